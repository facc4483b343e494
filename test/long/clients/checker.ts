/** The first of some consecutive IDs, as decimal text, and how many they are. */
export type Run = readonly [first: string, count: number];

interface Taken {
  readonly first: bigint;
  readonly last: bigint;
  readonly by: string;
}

/** How many faults are described. */
const SHOWN = 20;

/** The IDs of one number space that all processes were given. It knows nothing of how they are made. */
export class IssuedRuns {
  private readonly taken: Taken[] = [];
  count = 0;

  add(runs: readonly Run[], by: string): void {
    for (const [text, count] of runs) {
      const first = BigInt(text);
      this.taken.push({ first, last: first + BigInt(count) - 1n, by });
      this.count += count;
    }
  }

  /** Runs that share an ID with a lower one. */
  duplicates(): string[] {
    const faults: string[] = [];
    this.taken.sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
    let highest: Taken | undefined;
    for (const each of this.taken) {
      if (highest !== undefined && each.first <= highest.last && faults.length < SHOWN) {
        faults.push(`${each.first} of ${each.by} is within ${highest.first}..${highest.last} of ${highest.by}`);
      }
      if (highest === undefined || each.last > highest.last) highest = each;
    }
    return faults;
  }
}
