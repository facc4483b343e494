import { join } from 'node:path';
import { WorkerRegistry } from '@leaf-ids/core';
import { defaultLayout, LeaseHolder, WorkerWindows } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { type RegistryOptions, strategyOf } from '@leaf-ids/registry';
import { makeDataDirectory, removeDataDirectory } from '../../../../test/support/servers/data-directory';

const SERVER = { ip: '10.0.0.7', port: 8080 };
const LEASE = 'a'.repeat(32);

describe('the registry local beside the SQLite file of another registry', () => {
  const clock = new FakeClock();
  let directory: string;
  let open: WorkerRegistry[] = [];

  beforeEach(async () => (directory = await makeDataDirectory()));
  afterEach(async () => {
    for (const registry of open) await registry.close();
    open = [];
    await removeDataDirectory(directory);
  });

  function create(options: RegistryOptions): WorkerRegistry {
    const surroundings = { clock, random: (): number => 0, newId: () => 'id' };
    const strategy = strategyOf(options);
    const { remembers, ...parts } = strategy.create({ ...surroundings, onCloseProblem: () => undefined });
    const layout = { layout: defaultLayout().fingerprint, maxWorkerId: 1023 };
    const known = { name: options.strategy, remembers, ...strategy.lease, maxClockOffsetMs: 0, ...layout };
    const created = new WorkerRegistry({ ...parts, ...surroundings }, known);
    open.push(created);
    return created;
  }

  function beside(strategy: 'database' | 'mysql'): WorkerRegistry {
    const source = { url: `sqlite:${join(directory, 'leaf.sqlite')}`, migrate: true };
    return create(strategy === 'mysql' ? { strategy, ...source } : { strategy, ...source });
  }

  function acquire(registry: WorkerRegistry, leaseId: string): Promise<unknown> {
    const holder = new LeaseHolder(SERVER, leaseId, () => -1);
    return registry.acquire(holder, (_ms, reason) => Promise.reject(reason));
  }

  function startLocal(): Promise<unknown> {
    const databaseFile = join(directory, 'leaf.sqlite');
    const local = create({ strategy: 'local', workers: { '*': 3 }, directory: join(directory, 'leaf'), databaseFile });
    return acquire(local, 'local');
  }

  const refusal = (holder: string): { code: string; message: string } => ({
    code: 'LEAF_REGISTRY_MISMATCH',
    message: expect.stringContaining(`held by ${holder} until`) as string,
  });

  it('starts only after the end of a worker window, also of a released one', async () => {
    const windows = new WorkerWindows(beside('database'), SERVER, clock, 3);
    await windows.issue(LEASE, 'billing job', 60_000);
    await expect(startLocal()).rejects.toMatchObject(refusal('billing job'));
    await windows.release(LEASE);
    await expect(startLocal()).rejects.toMatchObject(refusal('billing job'));
    await clock.advance(60_001);
    await expect(startLocal()).resolves.toMatchObject({ workerId: 3 });
  });

  it('does not start beside a server with one record per address', async () => {
    await acquire(beside('mysql'), 'fixed');
    await expect(startLocal()).rejects.toMatchObject(refusal('10.0.0.7:8080'));
  });
});
