export interface EtcdRevision {
  /** The ID of the cluster. */
  readonly cluster: string;
  /** The revision of the data: it grows by at most one with each entry of the Raft log. */
  readonly revision: number;
}

/** How far an etcd cluster has come. */
export interface EtcdProgress extends EtcdRevision {
  /** The index of the Raft log: it grows with every entry. */
  readonly index: number;
}

/**
 * Recognizes a cluster whose data went back, and gives each stretch of history a name, its *origin*.
 *
 * While a cluster lives, its ID stays, and the index, the revision and `index - revision` never decrease. An origin
 * records lower bounds of the three; a later read that is below one of them belongs to another history:
 *
 * - A new cluster has another ID, unless it has the same name, token and peer URLs. Its index starts anew.
 * - `etcdctl snapshot restore` keeps the revision of the snapshot or raises it, and starts the index anew. So `index -
 *   revision` falls by the index that the cluster had at the snapshot.
 *
 * If a whole data directory is restored, index and revision go back together, and the data equal those of an earlier
 * time. Only a server that has seen a higher revision recognizes that.
 */
export class EtcdHistory {
  private seen: EtcdRevision | undefined;

  /** The highest revision of all responses. Take it before a read is sent: responses may overtake each other. */
  get mark(): EtcdRevision | undefined {
    return this.seen;
  }

  /** Records the revision of a response. */
  saw({ cluster, revision }: EtcdRevision): void {
    const { seen } = this;
    if (seen?.cluster !== cluster || revision > seen.revision) this.seen = { cluster, revision };
  }

  /**
   * The origin of data that were read.
   *
   * @param recorded the origin in the data; undefined if there are none
   * @param before the mark and the index before the read
   * @param read the revision of a linearizable read, and the index of the same member after it
   */
  originOf(
    recorded: string | undefined,
    { mark, index }: { readonly mark: EtcdRevision | undefined; readonly index: number },
    read: EtcdProgress,
  ): string {
    const { cluster, revision } = read;
    const isBehind = mark?.cluster === cluster && revision < mark.revision;
    if (isBehind) this.seen = { cluster, revision };
    else this.saw(read);
    if (recorded !== undefined && !isBehind && isLaterThan(recorded, read)) return recorded;
    return [cluster, index, revision].join(':');
  }
}

function isLaterThan(origin: string, { cluster, index, revision }: EtcdProgress): boolean {
  const [before, ...numbers] = origin.split(':');
  const [first = NaN, from = NaN] = numbers.map(Number);
  return before === cluster && index >= first && revision >= from && index - revision >= first - from;
}
