import type { IdRange } from '@leaf-ids/core';
import { DEFAULT_SEGMENT_OPTIONS, SegmentIdGenerator } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { type HeldCall, InMemorySegmentStore, type SegmentRow } from '../../../support/fakes/in-memory-segment-store';
import { SeededRandom } from '../../../support/seeded-random';

export interface SegmentResult {
  ids: number;
  restarts: number;
  /** What was wrong: an ID twice, or not ascending. */
  readonly problems: string[];
}

interface Server {
  readonly generator: SegmentIdGenerator;
  readonly store: InMemorySegmentStore;
}

const STEPS = 120;
const TAG = 't';

/** Two servers with the shipped generator over one table: answers lost, late and out of order, restarts, ranges given back. */
export async function simulateSegments(seed: number): Promise<SegmentResult> {
  const random = new SeededRandom(seed);
  const clock = new FakeClock();
  const rows = new Map<string, SegmentRow>([[TAG, { maxId: 1n, step: 1 + random.below(12) }]]);
  const result: SegmentResult = { ids: 0, restarts: 0, problems: [] };
  const seen = new Set<bigint>();
  const highest = [0n, 0n];
  const pending: Promise<void>[] = [];

  const make = (): Server => {
    const store = new InMemorySegmentStore(rows);
    const prefetchRatio = random.pick([0.1, 0.5, 1]);
    const options = { ...DEFAULT_SEGMENT_OPTIONS, prefetchRatio, waitMs: 50, durationMs: 200, maxStep: 40 };
    const events = { onLoadFailed: () => undefined, onRefreshFailed: () => undefined };
    return { store, generator: new SegmentIdGenerator(store, clock, (bound) => random.below(bound), options, events) };
  };
  const servers = [make(), make()];

  /** The order of what is taken at once is known; calls that wait may be answered in any. */
  const see = (index: number, { from, to }: IdRange, ordered: boolean): void => {
    if (ordered && from <= highest[index]!) result.problems.push(`server ${index}: ${from} follows ${highest[index]}`);
    if (to > highest[index]!) highest[index] = to;
    for (let id = from; id <= to; id++) {
      result.ids++;
      if (seen.has(id)) result.problems.push(`${id} came twice`);
      seen.add(id);
    }
  };
  const take = async (index: number, { generator }: Server): Promise<void> => {
    let last = 0n;
    for (const range of await generator.takeRanges(TAG, 1 + random.below(60))) {
      if (range.from <= last) result.problems.push(`an answer of server ${index} is not ascending`);
      last = range.to;
      see(index, range, false);
    }
  };
  const settle = (call: HeldCall): void => {
    if (random.chance(0.5)) {
      call.answer();
      return;
    }
    if (random.chance(0.5)) call.apply();
    call.fail();
  };
  const restart = async (index: number, { generator, store }: Server): Promise<void> => {
    result.restarts++;
    const closing = generator.close().catch(() => undefined);
    if (random.chance(0.5)) {
      store.release();
      await closing;
    } else {
      await clock.advance(0);
      [...store.held].forEach(settle);
      await clock.advance(0);
    }
    servers[index] = make();
  };

  for (let step = 0; step < STEPS; step++) {
    const index = random.below(2);
    const server = servers[index]!;
    const { generator, store } = server;
    switch (random.below(9)) {
      case 0: {
        const id = generator.tryNext(TAG);
        if (id !== undefined) see(index, { from: id, to: id }, true);
        break;
      }
      case 1:
        for (const range of generator.tryRanges(TAG, 1 + random.below(20)) ?? []) see(index, range, true);
        break;
      case 2:
      case 3:
        pending.push(take(index, server).catch(() => undefined));
        break;
      case 4:
        await clock.advance(random.below(40));
        break;
      case 5:
        if (random.chance(0.5)) store.hold();
        else store.release();
        break;
      case 6:
        if (store.held.length > 0) settle(store.held[random.below(store.held.length)]!);
        break;
      case 7:
        if (random.chance(0.3)) store.loseAnswers(1);
        else if (random.chance(0.3)) store.failNext(1 + random.below(3));
        break;
      case 8:
        if (random.chance(0.25)) await restart(index, server);
        break;
    }
  }
  for (const { store } of servers) {
    store.heal();
    store.release();
  }
  await clock.advance(500);
  await Promise.all(pending);
  return result;
}
