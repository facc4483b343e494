import { LeafError, type StoredWorker, type WorkerRecord } from '@leaf-ids/core';
import { type Choice, type ChoiceContext, formatTime } from '@leaf-ids/core/internal';
import { InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import { PoolPolicy } from './pool-policy';

const CEILING = 1_700_000_000_000;
const MARGIN_MS = 60_000;
const USED_UP = { code: 'LEAF_WORKERS_USED_UP' };

/** What the policy offers to take in a pool whose only worker ID is in use up to `CEILING`. */
async function choicesAt(now: number, clockCompared: boolean, workers = { first: 0, last: 0 }): Promise<Choice[]> {
  const pool = new InMemoryWorkers();
  const holder = { ip: '10.0.0.7', port: 8080 };
  pool.create(pool.registry(), { instance: holder, leaseId: 'a', write: 1, ceiling: CEILING, free: false }, 0);
  const found: Choice[] = [];
  const context = { store: new InMemoryWorkerStore(pool), instance: { ip: '10.0.0.8', port: 8080 }, leaseId: 'b' };
  const choices = new PoolPolicy().choices({
    ...{ ...context, workers, previous: undefined, now, clockCompared, random: () => 0 },
  });
  for await (const choice of choices) found.push(choice);
  return found;
}

it('A worker ID in use is taken only a minute after its ceiling', async () => {
  await expect(choicesAt(CEILING + MARGIN_MS, true)).rejects.toMatchObject(USED_UP);
  await expect(choicesAt(CEILING + MARGIN_MS + 1, true)).resolves.toMatchObject([{ take: { workerId: 0 } }]);
});

it('A worker ID in use is taken only by a server whose clock was compared with others', async () => {
  await expect(choicesAt(CEILING + 10 * MARGIN_MS, false)).rejects.toMatchObject(USED_UP);
});

it('A server sees the worker IDs of its range only, of which it uses the first 1024', async () => {
  const outside = await choicesAt(CEILING + 10 * MARGIN_MS, true, { first: 1, last: 2 });
  expect(new Set(outside.map((choice) => 'create' in choice && choice.create))).toEqual(new Set([1, 2]));
  const usage = new PoolPolicy().usage([], { first: 2048, last: 4095 }, CEILING);
  expect(usage).toEqual({ used: 0, most: 1024, first: 2048 });
});

describe('PoolPolicy', () => {
  const NOW = CEILING;
  const HOLDER = { ip: '10.0.0.7', port: 8080 };
  const used = (workerId: number, ceiling: number, more: Partial<WorkerRecord> = {}): StoredWorker => {
    const record = { instance: HOLDER, leaseId: 'a', write: 1, ceiling, free: false, ...more };
    return { workerId, version: '1', record };
  };
  const freed = (workerId: number, ceiling: number, leaseId = 'a'): StoredWorker =>
    used(workerId, ceiling, { free: true, leaseId });

  /** What is offered, in its order: T for a record to take, C for one to create. */
  async function offered(
    records: readonly StoredWorker[],
    last: number,
    { preferred, ...more }: Partial<ChoiceContext> & { readonly preferred?: number } = {},
  ): Promise<string[]> {
    const pool = new InMemoryWorkers();
    for (const record of records) pool.records.set(record.workerId, record);
    const context = { store: new InMemoryWorkerStore(pool), instance: HOLDER, leaseId: 'b', previous: undefined };
    const asked = { workers: { first: 0, last }, now: NOW, clockCompared: true, random: () => 0, ...more };
    const found: string[] = [];
    for await (const choice of new PoolPolicy(preferred).choices({ ...context, ...asked })) {
      found.push('take' in choice ? `T${choice.take.workerId}` : `C${choice.create}`);
    }
    return found;
  }

  it('offers its own record first, and one that it has released as any other', async () => {
    const own = [used(5, NOW + 1, { leaseId: 'b' }), freed(4, NOW, 'b'), used(3, NOW + 1), freed(0, NOW - 1)];
    expect(await offered(own, 5)).toEqual(['T5', 'T0', 'T4', 'C1', 'C2']);
  });

  it('offers a released worker ID from its ceiling on', async () => {
    expect(await offered([freed(0, NOW), freed(1, NOW + 1)], 1)).toEqual(['T0']);
    expect(await offered([freed(0, NOW - 1), freed(1, NOW - 2)], 1)).toEqual(['T1', 'T0']);
  });

  it('offers the least recently used half first, in random order, and of equal ones the lower ID', async () => {
    const records = [freed(0, 50), freed(1, 40), freed(3, 30), freed(2, 30), freed(4, 10)];
    expect(await offered(records, 4)).toEqual(['T4', 'T2', 'T3', 'T1', 'T0']);
    expect(await offered(records, 4, { random: (range) => range - 1 })).toEqual(['T3', 'T2', 'T4', 'T0', 'T1']);
  });

  it('offers no record outside the range of the server', async () => {
    const records = [freed(1, NOW - 1), freed(2, NOW - 2), freed(3, NOW - 3), used(4, 1, { leaseId: 'b' })];
    expect(await offered(records, 2, { workers: { first: 2, last: 2 } })).toEqual(['T2']);
    expect(await offered([freed(0, NOW - 1)], 3, { workers: { first: 2, last: 3 } })).toEqual(['C2', 'C3']);
  });

  it('offers the preferred worker ID before the others', async () => {
    const records = [freed(0, 10), freed(1, 20)];
    expect(await offered(records, 3, { preferred: 1 })).toEqual(['T1', 'T0', 'T1', 'C2', 'C3']);
    expect(await offered(records, 3, { preferred: 3 })).toEqual(['C3', 'T0', 'T1', 'C2', 'C3']);
    expect(await offered(records, 3, { preferred: 7 })).toEqual(['T0', 'T1', 'C2', 'C3']);
  });

  it('offers at most 16 of each kind', async () => {
    const records = Array.from({ length: 20 }, (_, workerId) => freed(workerId, workerId));
    const found = await offered(records, 59);
    expect(found.filter((choice) => choice.startsWith('T'))).toHaveLength(16);
    expect(found.filter((choice) => choice.startsWith('C'))).toHaveLength(16);
    const expired = records.map(({ workerId }) => used(workerId, NOW - MARGIN_MS - 100 + workerId));
    expect(await offered(expired, 19)).toHaveLength(16);
  });

  it('offers no more than there is room for, the least recent ones', async () => {
    const records = [freed(0, 30), freed(1, 20), freed(2, 10)];
    const seen: number[] = [];
    const room = (most: number) => ({
      room: (listed: readonly StoredWorker[]) => {
        seen.push(listed.length);
        return most;
      },
    });
    expect(await offered(records, 9, room(2))).toEqual(['T2', 'T1']);
    expect(await offered(records, 9, room(5))).toEqual(['T2', 'T1', 'T0', 'C3', 'C4']);
    const expired = [used(0, 30), used(1, 20), used(2, 10)];
    expect(await offered(expired, 2, room(2))).toEqual(['T2', 'T1']);
    expect(seen).toEqual([3, 3, 3]);
  });

  it('says what all worker IDs are used for', async () => {
    const refusal = (records: readonly StoredWorker[], clockCompared = true): Promise<unknown> =>
      offered(records, 1, { clockCompared }).catch((error: unknown) => (error as LeafError).message);
    const message = (facts: string): string =>
      `All worker IDs of ${new InMemoryWorkerStore(new InMemoryWorkers()).description} that this server may take, 0-1, are used: ${facts}. Stop servers that are not needed, or wait: worker IDs of killed servers become free at these times. A shorter time in the option snowflake.leaseTtlMs frees them sooner.`;
    expect(await refusal([used(0, NOW + 2), used(1, NOW + 1)])).toBe(
      message(`2 in use, the first until ${formatTime(NOW + 1)}; 0 released`),
    );
    expect(await refusal([freed(0, NOW + 2), freed(1, NOW + 1)])).toBe(
      message(`0 in use; 2 released, the first reusable at ${formatTime(NOW + 1)}`),
    );
    const expired = [used(0, 1), freed(1, NOW + 1)];
    expect(await refusal(expired, false)).toBe(
      message(
        `1 in use, the first until ${formatTime(1)}; 1 released, the first reusable at ${formatTime(NOW + 1)}; 1 expired by the clock of this server, which could not be compared with other clocks`,
      ),
    );
    expect(await offered(expired, 1)).toEqual(['T0']);
  });

  it('counts as used what nobody may take', () => {
    const records = [
      ...[used(0, NOW), freed(1, NOW), freed(2, NOW + 1)],
      ...[used(3, NOW - MARGIN_MS), used(4, NOW - MARGIN_MS - 1), used(9, NOW)],
    ];
    expect(new PoolPolicy().usage(records, { first: 0, last: 5 }, NOW)).toEqual({ used: 3, most: 6 });
    expect(new PoolPolicy().usage(records, { first: 1, last: 5 }, NOW)).toEqual({ used: 2, most: 5, first: 1 });
  });

  it('lets every holder report three times in a grace period', () => {
    const options = { leaseTtlMs: 1000, reportMs: 100, clockOffsetMs: 5 };
    expect([new PoolPolicy().graceMs(options), new PoolPolicy().exclusive]).toEqual([305, false]);
  });
});
