/**
 * Which versions of a record are one's own work, from an acquisition, or from a version that an earlier process of ours
 * has written, up to the newest one that is known.
 */
export class OwnWrites {
  /** Ceilings that may have been written over the newest version: their answers did not arrive. */
  private readonly unanswered = new Set<number>();
  /** Whether giving back has begun. */
  released = false;

  private newest: number;

  constructor(
    readonly workerId: number,
    private readonly oldest: number,
  ) {
    this.newest = oldest;
  }

  /** The newest version that is known to be our own. */
  get head(): number {
    return this.newest;
  }

  includes(workerId: number, version: number): boolean {
    return workerId === this.workerId && version >= this.oldest && version <= this.newest;
  }

  wentUnanswered(ceiling: number): void {
    this.unanswered.add(ceiling);
  }

  /** Whether that is what a write without an answer has left. */
  explain(version: number, ceiling: number): boolean {
    return version === this.newest + 1 && this.unanswered.has(ceiling);
  }

  advance(version: number): void {
    this.newest = version;
    this.unanswered.clear();
  }
}
