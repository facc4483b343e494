import { turn } from '../core/contender';
import { ratios, summarize, type Summary } from '../report/summary';
import { Latencies, type LatencyFigures } from '../load/latencies';
import { STEP, type Subject } from './databases';

export interface StorePlan {
  readonly rounds: number;
  readonly roundMs: number;
}

/** A call of the store, compared with the driver alone. */
export interface StoreRow {
  readonly database: string;
  readonly driver: string;
  readonly call: string;
  /** Concurrent calls, each for its own tag. */
  readonly callers: number;
  /** Calls per second. */
  readonly rate: Summary;
  readonly bareRate: Summary;
  /** Ratio of the store to the driver in the same round. */
  readonly ratio: Summary;
  readonly latency: LatencyFigures;
  readonly bareLatency: LatencyFigures;
}

interface Measured {
  readonly rates: number[];
  readonly latencies: Latencies;
}

type Act = (caller: number) => Promise<unknown>;

const CALLERS = [1, 16];

/** @param tags the tags of the database; caller n uses tag n */
export async function measureStore(subject: Subject, tags: readonly string[], plan: StorePlan): Promise<StoreRow[]> {
  const { store, bare } = subject;
  const lists = async (names: Promise<readonly string[] | number>): Promise<void> => {
    const listed = await names;
    const count = typeof listed === 'number' ? listed : listed.length;
    if (count !== tags.length) throw new Error(`The list has ${count} of ${tags.length} tags.`);
  };
  const rows: StoreRow[] = [];
  for (const callers of CALLERS) {
    const pair = await inTurn(
      plan,
      callers,
      (caller) => store.allocate(tags[caller]!, STEP),
      (caller) => bare.update(tags[caller]!),
    );
    rows.push(rowOf(subject, 'one allocation', callers, pair));
  }
  const pair = await inTurn(
    plan,
    1,
    () => lists(store.listTags().then((all) => all.length)),
    () => lists(bare.list()),
  );
  rows.push(rowOf(subject, `list of ${tags.length} tags`, 1, pair));
  return rows;
}

/** Runs both sides in every round, in alternating order. */
async function inTurn(
  { rounds, roundMs }: StorePlan,
  callers: number,
  ours: Act,
  bare: Act,
): Promise<readonly [Measured, Measured]> {
  const measured: readonly [Measured, Measured] = [
    { rates: [], latencies: new Latencies() },
    { rates: [], latencies: new Latencies() },
  ];
  const sides = [ours, bare] as const;
  for (const act of sides) await rateOf(act, callers, roundMs / 2, new Latencies());
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const { rates, latencies } = measured[side];
      rates.push(await rateOf(sides[side], callers, roundMs, latencies));
    }
  }
  return measured;
}

/** Calls per second of concurrent callers in a closed loop. */
async function rateOf(act: Act, callers: number, ms: number, latencies: Latencies): Promise<number> {
  let calls = 0;
  const startedAt = performance.now();
  const caller = async (index: number): Promise<void> => {
    while (performance.now() - startedAt < ms) {
      const begunAt = performance.now();
      await act(index);
      latencies.record(performance.now() - begunAt);
      calls++;
      // A synchronous driver would otherwise block the other callers.
      await turn();
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, index) => caller(index)));
  return (calls * 1000) / (performance.now() - startedAt);
}

function rowOf(
  { name, bare }: Subject,
  call: string,
  callers: number,
  [ours, theirs]: readonly [Measured, Measured],
): StoreRow {
  return {
    database: name,
    driver: bare.name,
    call,
    callers,
    rate: summarize(ours.rates),
    bareRate: summarize(theirs.rates),
    ratio: summarize(ratios(ours.rates, theirs.rates)),
    latency: ours.latencies.figures(),
    bareLatency: theirs.latencies.figures(),
  };
}
