import { FakeClock } from '../../clock/fake-clock';
import { defaultLayout } from '../../snowflake/bit-layout';
import { InMemoryWorkers, InMemoryWorkerStore } from '../../testing/in-memory-worker-store';
import { formatTime } from '../../util/json';
import type { RegistryDocument } from '../records/registry-document';
import { isAnswerOf, isSameHistory, RegistryMemory, type RegistryMemoryOptions } from './registry-memory';
import type { WorkerRecord } from '../records/worker-store';

const OFFSET_MS = 100;
const GRACE_MS = 1000;
const HISTORY = { id: 'a', generation: 2, origin: 'x', began: 5 };

let clock: FakeClock;
let workers: InMemoryWorkers;
let store: InMemoryWorkerStore;
beforeEach(() => {
  clock = new FakeClock();
  workers = new InMemoryWorkers();
  store = new InMemoryWorkerStore(workers);
});

const compare = (): Promise<void> => Promise.resolve();

function memory(options: Partial<RegistryMemoryOptions> = {}): RegistryMemory {
  return new RegistryMemory(store, clock, {
    ...{ strategy: 'test', layout: defaultLayout().fingerprint, leaseTtlMs: 10, continues: false },
    ...{ graceMs: () => GRACE_MS, clockOffsetMs: OFFSET_MS, newId: () => 'id', ...options },
  });
}

/** The document in place of the one that is stored. */
function stored(change: Partial<RegistryDocument>): void {
  workers.document = { ...workers.document!, ...change };
}

it('A history is that of the same registry and generation, with the same origin and beginning', () => {
  const others = [{ id: 'b' }, { generation: 3 }, { origin: 'y' }, { began: 6 }];
  expect(others.map((change) => isSameHistory(HISTORY, { ...HISTORY, ...change }))).toEqual([
    false,
    false,
    false,
    false,
  ]);
  expect(isSameHistory(HISTORY, { ...HISTORY })).toBe(true);
});

it('A history compares origins and beginnings only where both are known', () => {
  for (const unknown of [{ origin: undefined }, { began: undefined }]) {
    expect(isSameHistory(HISTORY, { ...HISTORY, ...unknown })).toBe(true);
    expect(isSameHistory({ ...HISTORY, ...unknown }, HISTORY)).toBe(true);
  }
});

it('An answer is of a history if its document is, and the data has the same origin', async () => {
  await memory().open();
  const answer = workers.registry();
  expect(isAnswerOf(workers.document!, answer)).toBe(true);
  expect(isAnswerOf(workers.document!, { ...answer, origin: 'y' })).toBe(false);
  expect(isAnswerOf(HISTORY, { ...answer, document: undefined })).toBe(false);
});

describe('The document', () => {
  it('of a new registry has generation 1, and no worker ID', async () => {
    const { document } = await memory({ continues: true }).open();
    expect(document).toEqual({
      ...{ id: 'id', madeAt: clock.now(), strategy: 'test', layout: defaultLayout().fingerprint, highest: -1 },
      ...{ generation: 1, origin: 'a', began: clock.now(), floor: undefined, horizonMs: 10, continues: true },
    });
    expect(workers.document).toEqual(document);
  });

  it('has a floor at once in a registry that loses no write', async () => {
    expect((await memory({ graceMs: () => 0 }).open()).document.floor).toBe(0);
  });

  it('keeps what it says, but for the floor, in the next generation', async () => {
    const first = memory({ leaseTtlMs: 50, continues: true });
    await first.raiseHighest(7, {});
    stored({ floor: 1 });
    workers.promote(workers.copy(), 'b');
    await clock.advance(1);
    const { document } = await memory({ newId: () => 'other' }).open();
    expect(document).toMatchObject({ id: 'id', highest: 7, generation: 2, origin: 'b', began: clock.now() });
    expect(document).toMatchObject({ floor: undefined, horizonMs: 50, continues: true });
  });

  it.each([
    ['a longer lease TTL', { leaseTtlMs: 20 }, { horizonMs: 20, continues: false }],
    ['a worker file', { continues: true }, { horizonMs: 10, continues: true }],
  ])('learns %s, and forgets it for nobody', async (_, options, learned) => {
    await memory().open();
    await memory(options).open();
    await memory().open();
    expect(workers.document).toMatchObject(learned);
  });

  it('is written only to change it', async () => {
    await memory().open();
    const write = jest.spyOn(store, 'writeRegistry');
    await memory().open();
    await memory({ leaseTtlMs: 5 }).open();
    expect(write).not.toHaveBeenCalled();
  });

  it.each([
    ['layout', { layout: 'other' }, 'LEAF_LAYOUT_MISMATCH'],
    ['strategy', { strategy: 'other' }, 'LEAF_REGISTRY_MISMATCH'],
  ])('refuses another %s', async (_, options, code) => {
    await memory().open();
    const before = workers.document;
    await expect(memory({ leaseTtlMs: 99, ...options }).open()).rejects.toMatchObject({ code });
    expect(workers.document).toBe(before);
  });

  it('is shown to the caller before it is checked', async () => {
    await memory().open();
    const onAnswer = jest.fn();
    await expect(memory({ layout: 'other' }).open({ onAnswer })).rejects.toThrow();
    expect(onAnswer).toHaveBeenCalledWith(workers.registry());
  });

  it('has the highest worker ID that the store has assigned', async () => {
    const one = memory();
    await one.raiseHighest(3, {});
    const write = jest.spyOn(store, 'writeRegistry');
    for (const lower of [2, 3]) await one.raiseHighest(lower, {});
    expect(write).not.toHaveBeenCalled();
    expect(workers.document?.highest).toBe(3);
    await one.raiseHighest(4, {});
    expect(workers.document?.highest).toBe(4);
  });

  it('is written in at most 100 attempts', async () => {
    await memory().open();
    const write = jest.spyOn(store, 'writeRegistry').mockResolvedValue(false);
    const contested = { code: 'LEAF_REGISTRY_UNREACHABLE', retryAfterMs: 1000 };
    const one = memory({ leaseTtlMs: 20 });
    await expect(one.open()).rejects.toMatchObject(contested);
    expect(write).toHaveBeenCalledTimes(100);
    const two = memory();
    await expect(two.holdOpen()).rejects.toMatchObject(contested);
    await expect(two.raiseHighest(1, {})).rejects.toMatchObject(contested);
    expect(write).toHaveBeenCalledTimes(300);
  });
});

describe('The grace period', () => {
  async function left(one: RegistryMemory, compared = compare): Promise<number> {
    return one.settle(await one.open(), compared);
  }

  it('has ended in a generation with a floor', async () => {
    const one = memory({ graceMs: () => 0 });
    expect(await left(one)).toBe(0);
    expect(workers.document?.floor).toBe(0);
  });

  it('passes by the monotonic clock, up to the last millisecond', async () => {
    const one = memory();
    const began = clock.now();
    expect(await left(one)).toBe(GRACE_MS);
    await clock.advance(GRACE_MS - 1);
    expect([await left(one), workers.document?.floor]).toEqual([1, undefined]);
    await clock.advance(1);
    expect([await left(one), workers.document?.floor]).toEqual([0, began + GRACE_MS]);
  });

  it('does not end by a clock that differs from those of others', async () => {
    const one = memory();
    await left(one);
    await clock.advance(GRACE_MS - 1);
    const compared = jest.fn(() => Promise.reject(new Error('offset')));
    await left(one, compared);
    expect(compared).not.toHaveBeenCalled();
    await clock.advance(1);
    await expect(left(one, compared)).rejects.toThrow('offset');
    expect(workers.document?.floor).toBeUndefined();
  });

  it('has a floor that is rounded up', async () => {
    const one = memory();
    const began = clock.now();
    await left(one);
    await clock.advance(GRACE_MS + 0.5);
    await left(one);
    expect(workers.document?.floor).toBe(began + GRACE_MS + 1);
  });

  it.each([
    [OFFSET_MS, 500],
    [-OFFSET_MS, 500],
    [OFFSET_MS + 1, GRACE_MS],
    [-OFFSET_MS - 1, GRACE_MS],
  ])('after a step of the clock of %d ms, lasts for another %d ms', async (step, remaining) => {
    const one = memory();
    await left(one);
    await clock.advance(500);
    clock.step(step);
    expect(await left(one)).toBe(remaining);
    await clock.advance(remaining - 1);
    expect(await left(one)).toBe(1);
  });

  it('is that of the longest lease TTL', async () => {
    const graceMs = (leaseTtlMs: number): number => 3 * leaseTtlMs;
    await memory({ graceMs, leaseTtlMs: 500 }).open();
    expect(await left(memory({ graceMs }))).toBe(1500);
  });

  it.each([{ id: 'z' }, { generation: 9 }, { began: 1 }])('begins again in another generation: %j', async (change) => {
    const one = memory();
    await left(one);
    await clock.advance(500);
    stored(change);
    expect(await left(one)).toBe(GRACE_MS);
  });

  it('begins again while others register again, for ten grace periods', async () => {
    await clock.advance(20 * GRACE_MS);
    const [newcomer, holder] = [memory(), memory()];
    await left(newcomer);
    await clock.advance(500);
    await holder.holdOpen();
    expect([await left(newcomer), workers.document?.registering]).toEqual([GRACE_MS, 1]);
    await clock.advance(500);
    expect(await left(newcomer)).toBe(500);
    await clock.advance(10 * GRACE_MS - 1001);
    await holder.holdOpen();
    expect([await left(newcomer), workers.document?.registering]).toEqual([GRACE_MS, 2]);
    await clock.advance(1);
    await holder.holdOpen();
    expect(await left(newcomer)).toBe(GRACE_MS - 1);
  });

  it('is not held open after it has ended', async () => {
    const one = memory({ graceMs: () => 0 });
    await one.open();
    await one.holdOpen();
    expect(workers.document?.registering).toBeUndefined();
  });
});

describe('A registry without a document', () => {
  const instance = { ip: '10.0.0.7', port: 8080 };
  const NOW = new FakeClock().now();
  const held: WorkerRecord = { instance, leaseId: 'own', write: 1, ceiling: NOW + 500, free: false };
  const java: WorkerRecord = { ...held, leaseId: undefined, write: 0, ceiling: NOW };

  function record(...records: WorkerRecord[]): void {
    for (const [workerId, each] of records.entries()) workers.create(workers.registry(), each, workerId);
  }

  it('is begun by nobody else while worker IDs may be in use', async () => {
    record(
      held,
      { ...held, ceiling: NOW + 900, instance: { ip: '10.0.0.8', port: 1 } },
      { ...held, ceiling: NOW - 101 },
    );
    const message = `2 worker IDs may be in use, for example worker 1 by 10.0.0.8:1. This server acquires one when a server that holds one has written the document again, or at ${formatTime(NOW + 900 + OFFSET_MS)}`;
    const refused = { code: 'LEAF_NOT_READY', retryAfterMs: 3000, message: expect.stringContaining(message) as string };
    await expect(memory().open()).rejects.toMatchObject(refused);
    expect(workers.document).toBeUndefined();
  });

  it('is begun by a server that holds a worker ID', async () => {
    record(held);
    await expect(memory().open({ holds: true })).resolves.toMatchObject({ document: { generation: 1 } });
  });

  it('is begun when the last one has expired, by the clock that is farthest behind', async () => {
    record(held);
    await clock.advance(500 + OFFSET_MS);
    await expect(memory().open()).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
    await clock.advance(1);
    await expect(memory().open()).resolves.toBeDefined();
  });

  it('is begun beside worker IDs that the store knows to be unheld', async () => {
    record(held);
    store.isUnheld = (workerId) => Promise.resolve(workerId === 0);
    await expect(memory().open()).resolves.toBeDefined();
  });

  it('is begun beside Java servers, by a server of their layout alone', async () => {
    record(java);
    await expect(memory({ layout: 'other' }).open()).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
    await expect(memory().open()).resolves.toBeDefined();
  });

  it('is begun by nobody beside a registry of another strategy that is in use', async () => {
    store.otherStrategies = (mayBeUsed) => Promise.resolve(mayBeUsed(held) ? '1 in a table' : undefined);
    await expect(memory().open({ holds: true })).rejects.toMatchObject({ code: 'LEAF_REGISTRY_MISMATCH' });
    await clock.advance(501 + OFFSET_MS);
    await expect(memory().open()).resolves.toBeDefined();
  });
});
