/** A run of timestamps that one process used as one worker, with all sequence numbers from 0 on. */
export interface Run {
  readonly workerId: number;
  readonly lease: string;
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** For some milliseconds: the first ID, the last one, and how many. */
  readonly sample?: readonly (string | number)[];
}

/**
 * IDs that two leases may share, or that do not belong to their run. A process uses each sequence number of a millisecond
 * once and its timestamps ascend, so an ID repeats only if runs of one worker overlap.
 */
export function faultsOf(runs: readonly Run[]): string[] {
  const faults: string[] = [];
  const byWorker = new Map<number, Run[]>();
  for (const run of runs) byWorker.set(run.workerId, [...(byWorker.get(run.workerId) ?? []), run]);
  for (const [workerId, all] of byWorker) {
    all.sort((a, b) => a.from - b.from);
    all.forEach((run, index) => {
      const next = all[index + 1];
      const isSame = next?.lease === run.lease && next.from >= run.to;
      if (next !== undefined && next.from <= run.to && !isSame)
        faults.push(`worker ${workerId}: ${JSON.stringify([run, next])}`);
    });
  }
  for (const run of runs) faults.push(...sampleFaults(run));
  return faults;
}

function sampleFaults({ workerId, from, to, sample = [] }: Run): string[] {
  let before = -1n;
  const faults: string[] = [];
  for (let at = 0; at < sample.length; at += 3) {
    const [first, last, count] = [BigInt(sample[at]!), BigInt(sample[at + 1]!), BigInt(sample[at + 2]!)];
    const timestamp = Number(first >> 22n) + 1_288_834_974_657;
    const isOwn = Number((first >> 12n) & 1023n) === workerId && timestamp >= from && timestamp <= to;
    if (!isOwn || first <= before || last - first + 1n !== count || first >> 12n !== last >> 12n)
      faults.push(`${first} to ${last} of worker ${workerId}`);
    before = last;
  }
  return faults;
}
