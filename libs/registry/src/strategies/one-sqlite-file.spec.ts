import { join } from 'node:path';
import { WorkerRegistry } from '@leaf-ids/core';
import { defaultLayout, LeaseHolder, WorkerWindows } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { type RegistryOptions, strategyOf } from '@leaf-ids/registry';
import { makeDataDirectory, removeDataDirectory } from '../../../../test/support/servers/data-directory';

const SERVER = { ip: '10.0.0.7', port: 8080 };
const HOUR_MS = 3_600_000;
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
    const parts = strategy.create({ ...surroundings, onCloseProblem: () => undefined });
    const layout = { layout: defaultLayout().fingerprint, maxWorkerId: 1023 };
    const known = {
      name: options.strategy,
      remembers: strategy.remembers,
      ...strategy.lease,
      maxClockOffsetMs: 0,
      ...layout,
    };
    const created = new WorkerRegistry({ ...parts, ...surroundings }, known);
    open.push(created);
    return created;
  }

  function beside(strategy: 'database' | 'mysql'): WorkerRegistry {
    const source = { url: `sqlite:${join(directory, 'leaf.sqlite')}`, migrate: true };
    return create(strategy === 'mysql' ? { strategy, ...source } : { strategy, ...source });
  }

  function acquire(registry: WorkerRegistry, leaseId: string): ReturnType<WorkerRegistry['acquire']> {
    const holder = new LeaseHolder(SERVER, leaseId, () => -1);
    return registry.acquire(holder, (_ms, reason) => Promise.reject(reason));
  }

  function createLocal(): WorkerRegistry {
    const databaseFile = join(directory, 'leaf.sqlite');
    return create({ strategy: 'local', workers: { '*': 3 }, directory: join(directory, 'leaf'), databaseFile });
  }

  function startLocal(): ReturnType<WorkerRegistry['acquire']> {
    return acquire(createLocal(), 'local');
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

  it('does not start together with the other one, when neither has a record yet', async () => {
    const [pool, local] = [beside('database'), createLocal()];
    await Promise.all([pool.history(), local.history()]);
    const outcomes = await Promise.allSettled([acquire(pool, 'pool'), acquire(local, 'local')]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeLessThan(2);
  });

  it('ends the lease of a server that was suspended until the other one could start', async () => {
    const pool = beside('database');
    const claim = await acquire(pool, 'pool');
    await clock.advance(HOUR_MS + 1);
    await startLocal();
    await expect(claim.extend(clock.now() + HOUR_MS)).rejects.toMatchObject({ code: 'LEAF_REGISTRY_MISMATCH' });
  });

  it('lets several servers start at once where a server with local ran before', async () => {
    await startLocal();
    for (const registry of open) await registry.close();
    await clock.advance(10_001);
    const found = Array.from({ length: 8 }, () => beside('database').history());
    let pending = found.length;
    const all = Promise.all(found.map((each) => each.finally(() => pending--)));
    while (pending > 0) await clock.advance(10);
    await expect(all).resolves.toHaveLength(8);
  });
});
