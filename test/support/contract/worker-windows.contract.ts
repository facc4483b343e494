import { WorkerWindows } from '@leaf-ids/core/internal';
import type { WorkerProcess, WorkerWorld } from '../servers/worker-processes';

const MINUTE = 60_000;
const SERVER = { ip: '10.0.0.7', port: 8080 };
/** Each store has to keep them whole: 127 characters, and one that is longer when it is encoded. */
const NAMES = ['x'.repeat(127), 'Zürich [eu]:8080 | 漢字', '10.0.0.7'];
const lease = (number: number): string => number.toString(16).padStart(32, '0');

/** Contract of {@link WorkerWindows} on every store of a pool. */
export function workerWindowsContract(world: WorkerWorld): void {
  const windowsOf = ({ registry, clock }: WorkerProcess): WorkerWindows =>
    new WorkerWindows(registry, SERVER, clock, 768);

  it('gives windows, and finds them again by another server', async () => {
    const [first, second] = [await world.started(0), await world.started(1)];
    await world.clock.advance(1);
    for (const [number, name] of NAMES.entries()) {
      const { window } = await windowsOf(first).issue(lease(number), name, MINUTE);
      expect(name.startsWith(window.holder)).toBe(true);
      expect(await windowsOf(second).issue(lease(number), name, MINUTE)).toEqual({ window, isNew: false });
    }
    const workers = (await windowsOf(second).list()).map(({ workerId }) => workerId);
    expect(new Set([...workers, first.claim.workerId, second.claim.workerId]).size).toBe(NAMES.length + 2);
  });

  it('extends and releases a window by servers in turn', async () => {
    const servers = [windowsOf(await world.started(0)), windowsOf(await world.started(1))] as const;
    await world.clock.advance(1);
    const { window } = await servers[0].issue(lease(7), 'billing', MINUTE);
    for (let turn = 0; turn < 6; turn++) {
      await world.clock.advance(MINUTE / 2);
      const extended = await servers[turn % 2]!.extend(lease(7), MINUTE);
      expect(extended).toEqual({ ...window, until: world.clock.now() + MINUTE });
    }
    await servers[1].release(lease(7), world.clock.now());
    for (const server of servers) {
      await expect(server.extend(lease(7), MINUTE)).rejects.toMatchObject({ code: 'LEAF_LEASE_NOT_FOUND' });
    }
    await world.clock.advance(1);
    const next = await servers[0].issue(lease(8), 'billing', MINUTE);
    // The worker ID that is free comes before those that nobody has had.
    expect(next.window).toMatchObject({ workerId: window.workerId, from: world.clock.now() });
  });

  it('gives windows of the range of the server, and extends and releases those of other ranges', async () => {
    const [low, high] = [{ workers: { first: 4, last: 8 } }, { workers: { first: 9, last: 12 } }];
    const first = windowsOf(await world.started(0, low));
    const second = windowsOf(await world.started(1, high));
    await world.clock.advance(1);
    const given: number[] = [];
    for (let number = 0; number < 3; number++) {
      const { window } = await first.issue(lease(number), 'billing', MINUTE);
      given.push(window.workerId);
      // Another server answers the same lease with the same window.
      expect(await second.issue(lease(number), 'billing', MINUTE)).toEqual({ window, isNew: false });
    }
    for (const workerId of given) expect([4, 5, 6, 7, 8]).toContain(workerId);
    // Three quarters of five.
    await expect(first.issue(lease(3), 'billing', MINUTE)).rejects.toThrow('All 3 worker windows are used');
    const own = (await second.issue(lease(3), 'billing', MINUTE)).window.workerId;
    expect([9, 10, 11, 12]).toContain(own);
    await world.clock.advance(MINUTE / 2);
    const extended = await second.extend(lease(0), MINUTE, given[0]);
    expect(extended).toMatchObject({ workerId: given[0], until: world.clock.now() + MINUTE });
    await second.release(lease(0), world.clock.now());
    await world.clock.advance(1);
    await expect(second.extend(lease(0), MINUTE)).rejects.toMatchObject({ code: 'LEAF_LEASE_NOT_FOUND' });
    expect((await first.issue(lease(4), 'billing', MINUTE)).window.workerId).toBe(given[0]);
  });

  it('two servers that acquire for one lease at the same time answer with one worker', async () => {
    const servers = [windowsOf(await world.started(0)), windowsOf(await world.started(1))] as const;
    await world.clock.advance(1);
    for (let round = 0; round < 5; round++) {
      const both = await Promise.allSettled(servers.map((server) => server.issue(lease(round), 'billing', MINUTE)));
      const answers = both.flatMap((each) => (each.status === 'fulfilled' ? [each.value.window.workerId] : []));
      const { window } = await servers[0].issue(lease(round), 'billing', MINUTE);
      expect(new Set([...answers, window.workerId]).size).toBe(1);
    }
  });
}
