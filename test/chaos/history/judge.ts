import type { LeafProcess } from '../world/leaf-process';
import type { FaultRecord } from './fault-record';
import type { Mode } from './history';

/** A call that gave no ID. Times are milliseconds since the run began. */
export interface Failure {
  /** Undefined: a client of all servers. */
  readonly server: LeafProcess | undefined;
  readonly caller: string;
  readonly mode: Mode;
  readonly code: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** How often callers of one sort got one code while one kind of fault lasted. */
export interface Tally {
  readonly during: string;
  readonly caller: string;
  readonly mode: Mode;
  readonly code: string;
  readonly expected: boolean;
  count: number;
  /** Of the first one. */
  readonly atMs: number;
}

/** A call may have begun before a fault, and a client learns late that all is well again. */
const GRACE_MS = 1500;
/** Says nothing of Leaf: the machine was busy. It counts against the availability all the same. */
const ANY_TIME: readonly string[] = ['timeout'];

/** Decides of every refusal whether it was to be expected, from the faults that lasted at the time. */
export class Judge {
  readonly records: FaultRecord[] = [];
  private readonly tallies = new Map<string, Tally>();

  note(failure: Failure): void {
    const { caller, mode, code, server, startedAt } = failure;
    const around = this.around(failure);
    const expected =
      ANY_TIME.includes(code) || around.some(({ fault }) => fault.expected(server, mode).includes(code));
    const during = around.map(({ plan }) => plan.kind).join(' + ') || 'calm';
    const key = [during, caller, mode, code, expected].join('|');
    const tally = this.tallies.get(key);
    if (tally !== undefined) tally.count++;
    else this.tallies.set(key, { during, caller, mode, code, expected, count: 1, atMs: startedAt });
  }

  all(): Tally[] {
    return [...this.tallies.values()];
  }

  private around({ startedAt, endedAt }: Failure): FaultRecord[] {
    // Newest first: those that are long over are at the end of the search.
    const found: FaultRecord[] = [];
    for (let i = this.records.length - 1; i >= 0 && found.length < 4 && i >= this.records.length - 8; i--) {
      const record = this.records[i]!;
      const over = record.recoveredAt ?? Infinity;
      if (record.beganAt <= endedAt && over + GRACE_MS >= startedAt) found.unshift(record);
    }
    return found;
  }
}
