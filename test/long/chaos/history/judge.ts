import type { Call } from '../faults/fault';
import type { FaultRecord } from './fault-record';
import type { Mode } from './history';
import { isBare, isPassing } from './passing-tags';

/** A call that gave no ID. Times are milliseconds since the run began. */
export interface Failure extends Call {
  readonly caller: string;
  readonly code: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** How often callers of one sort got one code for one tag while one kind of fault lasted. */
export interface Tally {
  readonly during: string;
  readonly caller: string;
  readonly mode: Mode;
  /** In segment mode. */
  readonly tag: string | undefined;
  readonly code: string;
  readonly expected: boolean;
  count: number;
  /** Of the first one. */
  readonly atMs: number;
}

/** A call may have begun before a fault, and a client learns late that all is well again. */
const GRACE_MS = 3000;
/** Says nothing of Leaf: the machine was busy. It counts against the availability all the same. */
const ANY_TIME: readonly string[] = ['timeout'];
/** Refusals for want of time: whoever gets little of the processor may come to the end of what was reserved or buffered. */
const WHEN_BUSY: readonly string[] = [
  ...ANY_TIME,
  'LEAF_LEASE_EXPIRED',
  'LEAF_NOT_READY',
  'LEAF_OVERLOADED',
  'LEAF_SEGMENT_UNAVAILABLE',
  'LEAF_SERVERS_UNAVAILABLE',
  'LEAF_STORE_UNAVAILABLE',
];

/** No call lasts longer than so many faults. */
const NEWEST = 16;
/** Between the kinds of a tally. */
export const PLUS = ' + ';

/** Decides of every refusal whether it was to be expected, from the faults that lasted at the time. */
export class Judge {
  readonly records: FaultRecord[] = [];
  /** From then on no fault lasts, and no refusal of a lasting tag is expected at any time; undefined before. */
  calmSince: number | undefined;
  private readonly tallies = new Map<string, Tally>();
  private readonly anyTime: readonly string[];

  /** @param busy others use this machine at the same time */
  constructor(busy: boolean) {
    this.anyTime = busy ? WHEN_BUSY : ANY_TIME;
  }

  note(failure: Failure): void {
    const { caller, mode, tag, code, startedAt } = failure;
    const around = this.around(failure, GRACE_MS);
    const explains = ({ fault, plan }: FaultRecord): boolean => {
      const others = around.map((record) => record.plan).filter((other) => other !== plan);
      return fault.expected(failure, others).includes(code);
    };
    const isExplained = around.some(explains) || (around.length > 0 && isBare(tag, code));
    // The first IDs of a tag that was just created may be late on a busy machine, in the calm part too.
    const isCalm = startedAt >= (this.calmSince ?? Infinity) && !isPassing(tag);
    const anyTime = isCalm ? ANY_TIME : this.anyTime;
    const expected = anyTime.includes(code) || isExplained;
    const within = this.around(failure, 0);
    const causes = within.length > 0 ? within : around;
    const during = causes.map(({ plan }) => plan.kind).join(PLUS) || 'calm';
    const key = [during, caller, mode, tag, code, expected].join('|');
    const tally = this.tallies.get(key);
    if (tally !== undefined) tally.count++;
    else this.tallies.set(key, { during, caller, mode, tag, code, expected, count: 1, atMs: Math.round(startedAt) });
  }

  all(): Tally[] {
    return [...this.tallies.values()];
  }

  /** The faults, oldest first, that lasted while the call did, or had been recovered from less than `graceMs` before. */
  private around({ startedAt, endedAt }: Failure, graceMs: number): FaultRecord[] {
    return this.records
      .slice(-NEWEST)
      .filter(({ beganAt, recoveredAt = Infinity }) => beganAt <= endedAt && recoveredAt + graceMs >= startedAt);
  }
}
