import type { Choice } from '@leaf-ids/core/internal';
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
