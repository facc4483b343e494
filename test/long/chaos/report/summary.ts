import type { TraceCheck } from '../../../support/step-traces';
import type { ChaosOutcome } from '../chaos-run';
import type { FaultRecord } from '../history/fault-record';
import type { Duplicate } from '../history/history';
import { PLUS, type Tally } from '../history/judge';
import { slowRecoveries } from '../history/recovery-bounds';
import { availability, type Share, type Slots } from '../history/slots';

/** Shares are from 0 to 1. */
export interface KindSummary {
  readonly kind: string;
  readonly faults: number;
  /** From the end of a fault until every edge served; undefined when there was none. */
  readonly recoveryMs: { readonly median: number; readonly max: number } | undefined;
  /** Of calls of clients of all servers, from the begin of the faults until the recovery. */
  readonly segment: number;
  readonly snowflake: number;
  /** Of calls of one server each, the broken one among them. */
  readonly oneServer: number;
  /** Codes that callers got. */
  readonly codes: readonly string[];
}

export interface Summary {
  /** The database and the coordinator. */
  readonly place: string;
  readonly seed: number;
  readonly date: string;
  readonly seconds: number;
  readonly rounds: number;
  readonly faults: number;
  readonly ids: string;
  readonly receipts: number;
  /** Changes of tags that were made, by what was done. */
  readonly tagChanges: Readonly<Record<string, number>>;
  readonly calls: number;
  readonly duplicates: readonly Duplicate[];
  readonly descents: readonly string[];
  readonly unexpected: readonly Tally[];
  readonly tallies: readonly Tally[];
  /** Of clients of all servers, outages of the database that outlast the buffers left out of it. */
  readonly segment: number;
  readonly snowflake: number;
  readonly kinds: readonly KindSummary[];
  /** Rounds of two faults at once. */
  readonly pairs: KindSummary;
  readonly failedStarts: number;
  readonly impossible: readonly string[];
  readonly stuck: string | undefined;
  /** Callers that went without IDs for too long while no fault lasted. */
  readonly late: readonly string[];
  readonly traces: TraceCheck;
  /** Rounds of faults after which something served too late. */
  readonly slow: readonly string[];
  readonly passed: boolean;
}

interface Window {
  readonly from: number;
  readonly to: number;
}

export function summarize(place: string, seed: number, outcome: ChaosOutcome): Summary {
  const { books, durationMs, rounds, tagChanges, failedStarts, impossible, stuck, late, traces } = outcome;
  const { history, judge, clients } = books;
  const duplicates = history.duplicates();
  const tallies = judge.all();
  const slow = slowRecoveries(judge.records);
  const unexpected = tallies.filter(({ expected }) => !expected);
  const singles = judge.records.filter(({ paired }) => !paired);
  const kinds = [...new Set(judge.records.map(({ plan }) => plan.kind))].sort();
  const whole = { from: 0, to: durationMs };
  const long = judge.records.filter(({ plan }) => plan.outlastsBuffers).map((record) => windowOf(record, durationMs));
  const calls = Object.values({ ...clients }).concat(Object.values(books.callers));
  return {
    place,
    seed,
    date: new Date().toISOString(),
    seconds: Math.round(durationMs / 1000),
    rounds,
    faults: judge.records.length,
    ids: String(history.ids),
    receipts: history.receipts,
    tagChanges,
    calls: calls.reduce((sum, slots) => sum + count(slots.between(0, Infinity)), 0),
    duplicates,
    descents: history.descents,
    unexpected,
    tallies,
    segment: availability(less(clients.segment.between(whole.from, whole.to), over(clients.segment, long))),
    snowflake: availability(clients.snowflake.between(whole.from, whole.to)),
    kinds: kinds.map((kind) =>
      describe(
        outcome,
        kind,
        singles.filter(({ plan }) => plan.kind === kind),
        tallies.filter(({ during }) => during === kind),
      ),
    ),
    pairs: describe(
      outcome,
      'two at once',
      judge.records.filter(({ paired }) => paired),
      tallies.filter(({ during }) => during.includes(PLUS)),
    ),
    failedStarts,
    impossible,
    stuck,
    late,
    slow,
    traces,
    passed:
      [duplicates, history.descents, unexpected, late, slow, traces.refused].every(({ length }) => length === 0) &&
      stuck === undefined,
  };
}

function describe(
  { books, durationMs }: ChaosOutcome,
  kind: string,
  records: readonly FaultRecord[],
  tallies: readonly Tally[],
): KindSummary {
  const windows = records.map((record) => windowOf(record, durationMs));
  const { clients, callers } = books;
  const recoveries = records.flatMap(({ recoveryMs }) => recoveryMs ?? []).sort((one, other) => one - other);
  const median = recoveries[Math.floor(recoveries.length / 2)];
  return {
    kind,
    faults: records.length,
    recoveryMs: median === undefined ? undefined : { median, max: recoveries.at(-1)! },
    segment: availability(over(clients.segment, windows)),
    snowflake: availability(over(clients.snowflake, windows)),
    oneServer: availability(plus(over(callers.segment, windows), over(callers.snowflake, windows))),
    codes: [...new Set(tallies.map(({ code }) => code))].sort(),
  };
}

function windowOf({ beganAt, recoveredAt }: FaultRecord, end: number): Window {
  return { from: beganAt, to: recoveredAt ?? end };
}

function over(slots: Slots, windows: readonly Window[]): Share {
  return windows.map(({ from, to }) => slots.between(from, to)).reduce(plus, { answered: 0, failed: 0 });
}

function plus(a: Share, b: Share): Share {
  return { answered: a.answered + b.answered, failed: a.failed + b.failed };
}

function less(a: Share, b: Share): Share {
  return { answered: a.answered - b.answered, failed: a.failed - b.failed };
}

function count({ answered, failed }: Share): number {
  return answered + failed;
}
