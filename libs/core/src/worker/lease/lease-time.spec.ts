import { InMemoryWorkerFile } from '../../../../../test/support/fakes/in-memory-worker-file';
import { inTime, LeaseRig, pass, REPORT_MS } from '../../../../../test/support/fakes/lease-rig';
import { FakeClock } from '../../clock/fake-clock';
import { InMemoryWorkers, InMemoryWorkerStore } from '../../testing/in-memory-worker-store';

const HOUR = 3_600_000;

it('A server that was suspended past its ceiling does not go on from its worker file', async () => {
  const clock = new FakeClock();
  const store = new InMemoryWorkerStore(new InMemoryWorkers());
  const server = await new LeaseRig(clock, store, { file: new InMemoryWorkerFile() }).start();
  store.line = 'down';
  await pass([server], clock, 2 * REPORT_MS);
  expect(server.ids.tryNext()).toBeDefined();
  const { ceiling } = server.lease;
  // Nobody reports meanwhile.
  await clock.advance(ceiling + 1 - clock.now());
  await server.report();
  expect(server.lease.ceiling).toBe(ceiling);
  expect(server.ids.tryNext()).toBeUndefined();
});

it('A newcomer whose clock steps back in the grace period starts it again, and admits newcomers by the new time', async () => {
  const clock = new FakeClock();
  const workers = new InMemoryWorkers();
  const server = new LeaseRig(clock, new InMemoryWorkerStore(workers));
  const acquired = server.lease.acquire();
  await clock.advance(REPORT_MS);
  clock.step(-HOUR);
  await inTime(clock, acquired);
  expect(workers.document?.floor).toBeLessThanOrEqual(clock.now());
  expect(server.ids.tryNext()).toBeDefined();
});
