import type { Choice } from '@leaf-ids/core/internal';
import { InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import { PoolPolicy } from './pool-policy';

const CEILING = 1_700_000_000_000;
const MARGIN_MS = 60_000;
const USED_UP = { code: 'LEAF_WORKERS_USED_UP' };

/** What the policy offers to take in a pool whose only worker ID is in use up to `CEILING`. */
async function choicesAt(now: number, clockCompared: boolean): Promise<Choice[]> {
  const workers = new InMemoryWorkers();
  const holder = { ip: '10.0.0.7', port: 8080 };
  workers.create(workers.registry(), { instance: holder, leaseId: 'a', write: 1, ceiling: CEILING, free: false }, 0);
  const found: Choice[] = [];
  const context = { store: new InMemoryWorkerStore(workers), instance: { ip: '10.0.0.8', port: 8080 }, leaseId: 'b' };
  const choices = new PoolPolicy().choices({
    ...{ ...context, maxWorkerId: 0, previous: undefined, now, clockCompared, random: () => 0 },
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
