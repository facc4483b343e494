import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClock } from '@leaf-ids/core/testing';
import { strategyOf } from '../../../libs/registry/src/strategies/strategies';
import { LeaseRig } from '../../support/fakes/lease-rig';

describe('the SQLite file of a registry', () => {
  let directory: string;
  const servers: LeaseRig[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'leaf-sqlite-workers-'));
  });
  afterEach(async () => {
    for (const { registry } of servers.splice(0)) await registry.close();
    await rm(directory, { recursive: true });
  });

  async function start(clock: FakeClock, port: number): Promise<LeaseRig> {
    const surroundings = { clock, random: () => 0, onCloseProblem: (): void => undefined };
    const options = { migrate: true, url: `sqlite:${join(directory, 'leaf.sqlite')}`, fileDirectory: directory };
    const strategy = strategyOf({ strategy: 'mysql', ...options });
    const { remembers } = strategy;
    const { store, file } = strategy.create(surroundings);
    const server = new LeaseRig(clock, store, { remembers, instance: { port }, ...(file && { file }) });
    servers.push(server);
    await server.start();
    return server;
  }

  it('ends the leases of whoever had it open when it was removed', async () => {
    const clock = new FakeClock(1_700_000_000_000);
    const one = await start(clock, 8080);
    for (const end of ['', '-wal', '-shm']) await rm(join(directory, `workers-leaf.sqlite${end}`), { force: true });
    await one.report();
    const two = await start(clock, 8081);
    expect(two.workerId).toBe(1);
    expect(one.workerId).toBeUndefined();
    expect(one.losses).toMatchObject([{ code: 'LEAF_LEASE_LOST', message: expect.stringContaining('was removed') }]);
  });
});
