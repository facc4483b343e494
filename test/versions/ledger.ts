import { History } from '../long/chaos/history/history';
import { check, type Operation } from '../long/strict/checker';

const SHOWN = 20;

/** Everything that callers got in one run, and what is wrong with it. It knows nothing of versions. */
export class Ledger {
  readonly history = new History();
  /** Calls by those of one tag whose IDs must ascend over all servers. */
  readonly strict: Operation[] = [];
  /** Calls that ended with an ID or a refusal by all servers. */
  calls = 0;
  /** Calls that all servers refused although one of them should serve them, by code. */
  readonly refused = new Map<string, number>();
  /** Refusals of tags whose settings the version of the server does not know, by code. */
  readonly unknown = new Map<string, number>();
  readonly faults: string[] = [];
  private readonly began = process.hrtime.bigint();

  /** Nanoseconds since the run began. */
  now(): number {
    return Number(process.hrtime.bigint() - this.began);
  }

  add(space: string, caller: number, from: bigint, count: number): void {
    this.history.add(space, { from, to: from + BigInt(count) - 1n, caller, at: Math.round(this.now() / 1e6) });
  }

  fault(text: string): void {
    if (this.faults.length < SHOWN) this.faults.push(`${Math.round(this.now() / 1e6)} ms: ${text}`);
  }

  get refusals(): number {
    return [...this.refused.values()].reduce((sum, count) => sum + count, 0);
  }

  duplicates(): string[] {
    return this.history.duplicates().map((each) => JSON.stringify(each));
  }

  /** What is out of order. */
  disorder(): string[] {
    const { violations, disordered } = check(this.strict);
    return [
      ...this.history.descents,
      ...violations.map(({ earlier, later }) => `strict: ${later.from} began after the end of ${earlier.to}`),
      ...disordered.map(({ from }) => `strict: the call with ${from} does not ascend`),
    ];
  }
}

export function count(map: Map<string, number>, key: string): void {
  map.set(key, (map.get(key) ?? 0) + 1);
}
