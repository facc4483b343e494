export interface StoreRevision {
  /** What the revision belongs to: the ID of an etcd cluster, the UID of an object of Kubernetes. */
  readonly source: string;
  /** The revision of the data: it grows by at most one with each entry of the Raft log. */
  readonly revision: number;
}

/** How far a store has come. */
export interface StoreProgress extends StoreRevision {
  /** The index of the Raft log of etcd: it grows with every entry. Where it is not known, the revision. */
  readonly index: number;
}

/**
 * Recognizes a store whose data went back, and gives each stretch of history a name, its *origin*. While a store lives,
 * its source stays, and the index, the revision and `index - revision` never decrease; an origin records lower bounds:
 *
 * - A new etcd cluster has another ID, unless it has the same token and peer URLs. Its index starts anew.
 * - `etcdctl snapshot restore` keeps or raises the revision, and starts the index anew: `index - revision` falls.
 * - An object of Kubernetes that was deleted and created again has another UID.
 *
 * If a whole disk is restored, only a server that has seen a higher revision recognizes that.
 */
export class StoreHistory {
  private seen: StoreRevision | undefined;
  /** An origin whose data went back: the next generation may take several reads to be recorded. */
  private refused: string | undefined;

  /** The highest revision of all responses. Take it before a read is sent: responses may overtake each other. */
  get mark(): StoreRevision | undefined {
    return this.seen;
  }

  /** Records the revision of a response. */
  saw({ source, revision }: StoreRevision): void {
    const least = this.seen?.source === source ? this.seen.revision : revision;
    this.seen = { source, revision: Math.max(least, revision) };
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
    { mark, index }: { readonly mark: StoreRevision | undefined; readonly index: number },
    read: StoreProgress,
  ): string {
    const { source, revision } = read;
    const isBehind = mark?.source === source && revision < mark.revision;
    if (isBehind) {
      this.seen = { source, revision };
      this.refused = recorded;
    } else {
      this.saw(read);
    }
    if (recorded !== undefined && recorded !== this.refused && isLaterThan(recorded, read)) return recorded;
    return [source, index, revision].join(':');
  }
}

function isLaterThan(origin: string, { source, index, revision }: StoreProgress): boolean {
  const [before, ...numbers] = origin.split(':');
  const [first = NaN, from = NaN] = numbers.map(Number);
  // Then the index has not decreased either.
  return before === source && revision >= from && index - revision >= first - from;
}
