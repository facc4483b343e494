import * as fc from 'fast-check';
import type { SegmentOptions } from '@leaf-ids/core/internal';
import { idsOf } from '../../support/fakes/segment-rig';
import { blocksOf, booksOf, bufferOf, countsOf, generator, SegmentModel, type Start } from './segment-model';
import { runs } from '../../support/runs';

type Move = (model: SegmentModel) => unknown;

interface Weighted {
  readonly weight: number;
  readonly arbitrary: fc.Arbitrary<Move>;
}

/** A move that a counterexample shows by its name and argument. */
function move<T>(
  weight: number,
  name: string,
  argument: fc.Arbitrary<T>,
  run: (model: SegmentModel, argument: T) => unknown,
): Weighted {
  const named = (value: T): Move =>
    Object.assign((model: SegmentModel) => run(model, value), {
      [fc.toStringMethod]: () => `${name}(${JSON.stringify(value)})`,
    });
  return { weight, arbitrary: argument.map(named) };
}

const who = fc.nat(1);
const tag = fc.nat(1);
const which = fc.nat(7);
const few = fc.integer({ min: 1, max: 9 });

const calls = [
  move(6, 'take', fc.tuple(who, tag), (model, [slot, name]) => model.take(slot, name)),
  move(4, 'tryNext', fc.tuple(who, tag, fc.boolean()), (model, [slot, name, asNumber]) =>
    model.tryNext(slot, name, asNumber),
  ),
  move(3, 'tryBuffered', fc.tuple(who, tag, fc.boolean()), (model, [slot, name, asNumber]) =>
    model.tryBuffered(slot, name, asNumber),
  ),
  move(5, 'takeRanges', fc.tuple(who, tag, fc.integer({ min: 1, max: 40 })), (model, [slot, name, count]) =>
    model.takeRanges(slot, name, count),
  ),
];
const run = move(4, 'takeRun', fc.tuple(who, tag, fc.integer({ min: 1, max: 40 })), (model, [slot, name, count]) =>
  model.takeRun(slot, name, count),
);
const surroundings = [
  move(7, 'answer', which, (model, index) => model.held(index)?.answer()),
  move(1, 'carryOut', which, (model, index) => model.held(index)?.apply()),
  move(1, 'loseRequest', which, (model, index) => model.held(index)?.fail()),
  move(1, 'breakRequest', which, (model, index) => model.held(index)?.fail(new Error('bug'))),
  move(1, 'loseAnswer', which, (model, index) => {
    const call = model.held(index);
    call?.apply();
    call?.fail();
  }),
  move(5, 'advance', fc.constantFrom(0, 0, 30, 150, 300, 2000), (model, ms) => model.clock.advance(ms)),
  move(1, 'allocateElsewhere', fc.tuple(tag, few), (model, [name, size]) => model.allocateElsewhere(name, size)),
];
const restart = move(1, 'restart', who, (model, slot) => model.restart(slot));
const crash = move(1, 'crash', who, (model, slot) => model.crash(slot));
const refresh = move(2, 'refresh', who, (model, slot) => model.refresh(slot));
const toggleRow = move(1, 'toggleRow', tag, (model, name) => model.toggleRow(name));
const reinsertRow = move(2, 'reinsertRow', tag, (model, name) => model.reinsertRow(name));
const reinsertTag = move(2, 'reinsertTag', tag, (model, name) => model.reinsertTag(name));
const backwards = move(1, 'goBackwards', fc.tuple(tag, fc.integer({ min: 1, max: 60 })), (model, [name, by]) =>
  model.goBackwards(name, by),
);

/** Numbers are exact up to 2^53 - 1. */
const EDGE = BigInt(Number.MAX_SAFE_INTEGER) - 20n;
const settings = fc.record({
  first: fc.constantFrom(1n, 1n, EDGE),
  step: fc.integer({ min: 1, max: 12 }),
  durationMs: fc.constant(500),
  maxStep: fc.constantFrom(1, 8, 25),
  prefetchRatio: fc.constantFrom(0.1, 0.5, 1),
  waitMs: fc.constantFrom(100, 300),
});

interface Stage {
  readonly servers: number;
  readonly tags: readonly string[];
  readonly start: Start;
  readonly moves: readonly Weighted[];
}

/** Plays any moves on a stage, lets all calls end, and checks what must hold then, always and on this stage. */
async function always({ servers, tags, start, moves }: Stage, check: (model: SegmentModel) => void): Promise<void> {
  const play = async (
    { first, step, ...options }: SegmentOptions & { first: bigint; step: number },
    script: Move[],
  ): Promise<void> => {
    const model = new SegmentModel(servers, tags, step, options, start, first);
    for (const next of script) await next(model);
    await model.finish();
    expectUnique(model);
    expectCounted(model);
    check(model);
  };
  const script = fc.array(fc.oneof(...moves), { maxLength: 70, size: 'max' });
  await fc.assert(fc.asyncProperty(settings, script, play), { numRuns: runs(300) });
}

function expectUnique(model: SegmentModel): void {
  for (const name of model.tags) {
    const issued = model.issuedOf(name);
    expect(new Set(issued).size).toBe(issued.length);
  }
}

function expectAscending(model: SegmentModel): void {
  expect(model.descents).toStrictEqual([]);
  expect(model.malformed).toStrictEqual([]);
}

function expectAllSettled(model: SegmentModel, refusals: readonly string[]): void {
  expect(model.calls.filter((call) => !call.settled)).toStrictEqual([]);
  expect(model.clock.sleeping).toBe(0);
  expect(refusals).toEqual(expect.arrayContaining([...model.refusals]));
}

function expectOneAllocationAtATime(model: SegmentModel): void {
  for (const { store } of model.servers) expect(store.peak).toBeLessThanOrEqual(1);
}

/** The row is above all that was issued, whatever was given back. */
function expectRowsAhead(model: SegmentModel): void {
  for (const name of model.tags) {
    const maxId = model.storage.maxId(name);
    if (maxId !== undefined) expect(model.issuedOf(name).filter((id) => id >= maxId)).toStrictEqual([]);
  }
}

/** Each ID that the row gave is issued, buffered, handed back or lost with an answer: once, and nothing else is. */
function expectBooksBalanced(model: SegmentModel): void {
  for (const server of model.servers.filter(({ crashed }) => !crashed)) {
    for (const name of model.tags) {
      const { granted, found } = booksOf(server, name);
      const kept = new Set(found);
      expect(granted.filter((id) => !kept.has(id))).toStrictEqual([]);
      expect(found).toHaveLength(granted.length);
    }
  }
}

function expectCounted(model: SegmentModel): void {
  for (const server of model.servers.filter(({ crashed }) => !crashed)) {
    const { counted, answered } = countsOf(server);
    expect(counted).toBe(answered);
  }
}

const REFUSALS = ['bug', 'crashed', 'LEAF_NOT_READY', 'LEAF_SEGMENT_UNAVAILABLE', 'LEAF_STORE_UNAVAILABLE'];

describe('segment IDs, whatever happens', () => {
  it('double buffers on one row issue each ID once, ascending, keep none back, and account for every one', async () => {
    const moves = [...calls, ...surroundings, restart, crash];
    await always({ servers: 2, tags: ['order'], start: bufferOf('order'), moves }, (model) => {
      expectAscending(model);
      expectAllSettled(model, REFUSALS);
      expectOneAllocationAtATime(model);
      expectRowsAhead(model);
      expectBooksBalanced(model);
      expect(model.withheld).toStrictEqual([]);
    });
  });

  it('double buffers on one row issue consecutive IDs as one range, above all earlier ones', async () => {
    const moves = [...calls, run, run, ...surroundings, restart, crash];
    await always({ servers: 2, tags: ['order'], start: bufferOf('order'), moves }, (model) => {
      expectAscending(model);
      expectAllSettled(model, REFUSALS);
      expectOneAllocationAtATime(model);
      expectRowsAhead(model);
    });
  });

  it('a double buffer of separate blocks issues consecutive IDs or refuses them, and never buffers many', async () => {
    const moves = [run, ...surroundings];
    await always({ servers: 1, tags: ['order'], start: blocksOf('order'), moves }, (model) => {
      expectAscending(model);
      expectAllSettled(model, ['LEAF_SIZE_INVALID', ...REFUSALS]);
      expectOneAllocationAtATime(model);
      expectRowsAhead(model);
      for (const { issuer } of model.servers) expect(idsOf(...issuer.left).length).toBeLessThanOrEqual(3 * 4);
    });
  });

  it('a double buffer of separate blocks issues each ID once, ascending, as bigints and as numbers', async () => {
    const moves = [...calls, ...surroundings, restart];
    await always({ servers: 1, tags: ['order'], start: blocksOf('order'), moves }, (model) => {
      expectAscending(model);
      expectAllSettled(model, REFUSALS);
      expectRowsAhead(model);
    });
  });

  it('a double buffer never issues an ID twice, even when the storage goes backwards', async () => {
    const moves = [...calls, run, ...surroundings, backwards];
    await always({ servers: 1, tags: ['order'], start: bufferOf('order'), moves }, (model) => {
      expectAscending(model);
      expectAllSettled(model, ['LEAF_SEGMENT_UNAVAILABLE']);
      expectOneAllocationAtATime(model);
    });
  });

  it('generators on one storage share no ID, through refreshes, restarts and crashes', async () => {
    const moves = [...calls, run, ...surroundings, refresh, restart, crash];
    await always({ servers: 2, tags: ['order', 'user'], start: generator, moves }, (model) => {
      expectAscending(model);
      expectAllSettled(model, REFUSALS);
      expectOneAllocationAtATime(model);
      expectRowsAhead(model);
    });
  });

  it('generators share no ID when rows are deleted and put back', async () => {
    const moves = [...calls, run, ...surroundings, refresh, restart, toggleRow];
    await always({ servers: 2, tags: ['order', 'user'], start: generator, moves }, (model) => {
      expect(model.malformed).toStrictEqual([]);
      expectAllSettled(model, ['LEAF_TAG_NOT_FOUND', ...REFUSALS]);
      expectRowsAhead(model);
    });
  });

  it('a generator gives no ID twice when rows are deleted by hand and inserted again at 1', async () => {
    const moves = [...calls, run, ...surroundings, refresh, refresh, reinsertRow];
    await always({ servers: 1, tags: ['order', 'user'], start: generator, moves }, (model) => {
      expectAscending(model);
      expectAllSettled(model, ['LEAF_TAG_NOT_FOUND', ...REFUSALS]);
    });
  });

  it('generators share no ID when tags are deleted by the API and inserted again at 1', async () => {
    const moves = [...calls, run, ...surroundings, refresh, restart, reinsertTag];
    await always({ servers: 2, tags: ['order', 'user'], start: generator, moves }, (model) => {
      expect(model.malformed).toStrictEqual([]);
      expectAllSettled(model, ['LEAF_TAG_NOT_FOUND', ...REFUSALS]);
    });
  });
});
