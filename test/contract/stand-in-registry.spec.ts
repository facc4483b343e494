import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CeilingProposal,
  FakeClock,
  LeafError,
  type LeaseHolder,
  type WorkerClaim,
  WorkerRegistry,
} from '@leaf/core';
import { type LeafDataSource, parseDatabaseUrl, WorkerTable } from '@leaf/persistence';
import { SqlWorkerRegistry, StandInRegistry } from '@leaf/registry';
import { clock, connect, lazily } from './sql-stores';
import { workerRegistryContract } from './worker-registry.contract';

/** A registry at the end of a line that can be cut. */
class RemoteRegistry extends WorkerRegistry {
  line: 'up' | 'down' | 'loses the next answer' = 'up';

  constructor(private readonly inner: WorkerRegistry) {
    super();
  }

  get description(): string {
    return this.inner.description;
  }

  acquire(holder: LeaseHolder, propose: CeilingProposal): Promise<WorkerClaim> {
    return this.over(() => this.inner.acquire(holder, propose));
  }

  extend(claim: WorkerClaim, ceiling: number): Promise<WorkerClaim> {
    return this.over(() => this.inner.extend(claim, ceiling));
  }

  release(claim: WorkerClaim, ceiling: number): Promise<void> {
    return this.over(() => this.inner.release(claim, ceiling));
  }

  private async over<T>(act: () => Promise<T>): Promise<T> {
    const { line } = this;
    if (line === 'up') return act();
    if (line === 'loses the next answer') {
      this.line = 'up';
      await act();
    }
    throw new LeafError('LEAF_REGISTRY_UNREACHABLE', 'The line is down.', { retryAfterMs: 1000 });
  }
}

const HORIZON = 10_000;
const START = 1_700_000_000_000;
const UNREACHABLE = { code: 'LEAF_REGISTRY_UNREACHABLE' };
const LOST = { code: 'LEAF_LEASE_LOST' };

/** The files that stand in are compared with this one, which reads START until a test moves it. */
let wall: FakeClock;
let directory: string;
let dataSource: LeafDataSource;
const opened: WorkerRegistry[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'leaf-stand-in-'));
  dataSource = await connect(parseDatabaseUrl(`sqlite:${join(directory, 'leaf.sqlite')}`));
});
afterAll(async () => {
  await dataSource.destroy();
  await rm(directory, { recursive: true });
});

async function reset(): Promise<void> {
  wall = new FakeClock(START);
  for (const registry of opened.splice(0)) await registry.close();
  await rm(join(directory, 'files'), { recursive: true, force: true });
  await dataSource.query('DELETE FROM leaf_workerid_alloc');
}

function holderOf(port: number): LeaseHolder {
  return { ip: '10.0.0.7', port, leaseId: randomBytes(8).toString('hex') };
}

function makeSqlRegistry(): WorkerRegistry {
  return new SqlWorkerRegistry(new WorkerTable(lazily(dataSource.target)), 1_000_000, clock);
}

/** One process of the server, on this host or, with a directory of its own, on another one. */
function makeProcess(host = 'files'): { registry: StandInRegistry; remote: RemoteRegistry; holder: LeaseHolder } {
  const remote = new RemoteRegistry(makeSqlRegistry());
  const registry = new StandInRegistry(remote, join(directory, host), wall);
  opened.push(registry);
  return { registry, remote, holder: holderOf(8080) };
}

workerRegistryContract('StandInRegistry', {
  instances: 3,
  stock: true,
  twin: 'refused',
  reset,
  open: (instance) => {
    const registry = new StandInRegistry(makeSqlRegistry(), join(directory, 'files'), wall);
    return Promise.resolve({ registry, holder: holderOf(8080 + instance), close: () => registry.close() });
  },
});

describe('a file that stands in for the registry', () => {
  beforeEach(reset);
  afterEach(reset);

  const file = (): string => join(directory, 'files', '8080', 'workerID.properties');
  const at =
    (ceiling: number): CeilingProposal =>
    (recorded) =>
      Math.max(ceiling, recorded + 1);
  const recorded = async (): Promise<number> => {
    const [row] = await dataSource.query<{ max_timestamp: number }[]>('SELECT max_timestamp FROM leaf_workerid_alloc');
    return row!.max_timestamp;
  };

  /** A process that has run, up to `ceiling`, and died. */
  async function crashed(ceiling = START): Promise<WorkerClaim> {
    const { registry, holder } = makeProcess();
    const claim = await registry.acquire(holder, at(ceiling));
    await registry.close();
    return claim;
  }

  it('goes on while the registry is away, and records it when it is back', async () => {
    const { registry, remote, holder } = makeProcess();
    let claim = await registry.acquire(holder, at(START));
    expect(registry.trouble).toBeUndefined();
    remote.line = 'down';
    for (const ceiling of [START + 3000, START + 6000]) {
      claim = await registry.extend(claim, ceiling);
      expect(claim.ceiling).toBe(ceiling);
      expect(await readFile(file(), 'utf8')).toContain(`maxTimestamp=${ceiling}\n`);
    }
    expect(registry.trouble).toContain('The line is down');
    expect(await recorded()).toBe(START);
    remote.line = 'up';
    expect(await registry.extend(claim, START + 9000)).toMatchObject({ ceiling: START + 9000 });
    expect(await recorded()).toBe(START + 9000);
    expect(registry.trouble).toBeUndefined();
  });

  it('does not go on without the registry once its time has passed', async () => {
    const { registry, remote, holder } = makeProcess();
    const claim = await registry.acquire(holder, at(START));
    remote.line = 'down';
    wall.step(1);
    await expect(registry.extend(claim, START + HORIZON)).rejects.toMatchObject(UNREACHABLE);
    expect(await readFile(file(), 'utf8')).toContain(`maxTimestamp=${START}\n`);
    expect(registry.trouble).toBeUndefined();
    remote.line = 'up';
    expect(await registry.extend(claim, START + HORIZON)).toMatchObject({ ceiling: START + HORIZON });
  });

  it.each(['extension', 'none'])(
    'starts without the registry after a crash (%s of unknown outcome)',
    async (unknown) => {
      const first = makeProcess();
      const before = await first.registry.acquire(first.holder, at(START));
      if (unknown === 'extension') {
        first.remote.line = 'loses the next answer';
        await first.registry.extend(before, START + 3000);
        expect(await recorded()).toBe(START + 3000);
      }
      await first.registry.close();

      const { registry, remote, holder } = makeProcess();
      remote.line = 'down';
      const seen: number[] = [];
      const claim = await registry.acquire(holder, (found) => {
        seen.push(found);
        return START + HORIZON;
      });
      const floor = unknown === 'extension' ? START + 3000 : START;
      expect(claim).toMatchObject({ workerId: before.workerId, previousCeiling: floor, ceiling: START + HORIZON });
      expect(seen).toEqual([floor]);
      expect(registry.trouble).toContain('The line is down');
      remote.line = 'up';
      expect(await registry.extend(claim, START + 2 * HORIZON)).toMatchObject({ ceiling: START + 2 * HORIZON });
      expect(await recorded()).toBe(START + 2 * HORIZON);
    },
  );

  it('starts without the registry after a graceful stop', async () => {
    const first = makeProcess();
    await first.registry.release(await first.registry.acquire(first.holder, at(START + HORIZON)), START);
    await first.registry.close();
    const { registry, remote, holder } = makeProcess();
    remote.line = 'down';
    const claim = await registry.acquire(holder, at(START + 1));
    expect(claim).toMatchObject({ previousCeiling: START });
    remote.line = 'up';
    expect(await registry.extend(claim, START + HORIZON)).toMatchObject({ ceiling: START + HORIZON });
    await registry.extend(claim, START + 2 * HORIZON);
    expect(await recorded()).toBe(START + 2 * HORIZON);
  });

  it.each(['crash', 'graceful stop'])('notices, after a %s, that somebody else has written meanwhile', async (end) => {
    const first = makeProcess();
    const before = await first.registry.acquire(first.holder, at(START));
    if (end === 'graceful stop') await first.registry.release(before, START - 500);
    await first.registry.close();

    const { registry, remote, holder } = makeProcess();
    remote.line = 'down';
    const claim = await registry.acquire(holder, at(START + 1));
    const other = makeProcess('another-host');
    await other.registry.acquire(other.holder, at(START + HORIZON));
    remote.line = 'up';
    await expect(registry.extend(claim, START + 2 * HORIZON)).rejects.toMatchObject(LOST);
    expect(await recorded()).toBe(START + HORIZON);
    await rm(join(directory, 'another-host'), { recursive: true });
  });

  it('starts above the higher of the two ceilings', async () => {
    const first = makeProcess();
    const claim = await first.registry.acquire(first.holder, at(START));
    first.remote.line = 'down';
    await first.registry.extend(claim, START + 5000);
    await first.registry.close();
    const second = makeProcess();
    expect(await second.registry.acquire(second.holder, at(0))).toMatchObject({
      previousCeiling: START + 5000,
      ceiling: START + 5001,
    });
    await second.registry.close();
    await dataSource.query(`UPDATE leaf_workerid_alloc SET max_timestamp = ${START + 9000}`);
    const third = makeProcess();
    expect(await third.registry.acquire(third.holder, at(0))).toMatchObject({ previousCeiling: START + 9000 });
  });

  it('needs the registry for the very first start, and says so', async () => {
    const { registry, remote, holder } = makeProcess();
    remote.line = 'down';
    await expect(registry.acquire(holder, at(START))).rejects.toMatchObject(UNREACHABLE);
    await expect(registry.acquire(holder, at(START))).rejects.toThrow(file());
    remote.line = 'up';
    expect(await registry.acquire(holder, at(START))).toMatchObject({ previousCeiling: 0 });
  });

  it("is of one registry: in another one the worker ID is somebody else's", async () => {
    await crashed();
    const text = await readFile(file(), 'utf8');
    await writeFile(file(), text.replace(/^registry=.*$/m, 'registry=zk_normal (zk1:2181/snowflake/leaf/forever)'));
    const { registry, remote, holder } = makeProcess();
    remote.line = 'down';
    await expect(registry.acquire(holder, at(START + 1))).rejects.toMatchObject(UNREACHABLE);
    await expect(registry.acquire(holder, at(START + 1))).rejects.toThrow('zk_normal (zk1');
    // Its time counts all the same: this instance may have issued up to it.
    remote.line = 'up';
    expect(await registry.acquire(holder, at(START + 1))).toMatchObject({ previousCeiling: START });
  });

  it('finds out by itself about an acquisition whose answer was lost', async () => {
    const { registry, remote, holder } = makeProcess();
    remote.line = 'loses the next answer';
    const claim = await registry.acquire(holder, at(START));
    expect(registry.trouble).toBeUndefined();
    expect(await recorded()).toBe(claim.ceiling);
  });

  it('does not stand in for a clock that is behind, or a lease that is lost', async () => {
    await crashed();
    const second = makeProcess();
    const behind = new LeafError('LEAF_CLOCK_BEHIND', 'behind');
    const refuse = (): number => {
      throw behind;
    };
    await expect(second.registry.acquire(second.holder, refuse)).rejects.toBe(behind);
    second.remote.line = 'down';
    await expect(second.registry.acquire(second.holder, refuse)).rejects.toBe(behind);
    second.remote.line = 'up';
    const claim = await second.registry.acquire(second.holder, at(START + 1));
    await dataSource.query("UPDATE leaf_workerid_alloc SET lease_id = 'another'");
    await expect(second.registry.extend(claim, START + HORIZON)).rejects.toMatchObject(LOST);
    expect(await readFile(file(), 'utf8')).toContain(`maxTimestamp=${claim.ceiling}\n`);
  });

  it('does not grant what it could not write', async () => {
    const { registry, remote, holder } = makeProcess();
    const claim = await registry.acquire(holder, at(START));
    await rm(join(directory, 'files'), { recursive: true });
    await expect(registry.extend(claim, START + 3000)).rejects.toMatchObject(UNREACHABLE);
    remote.line = 'down';
    await expect(registry.extend(claim, START + 3000)).rejects.toThrow(file());
    await mkdir(join(directory, 'files', '8080'), { recursive: true });
    expect(await registry.extend(claim, START + 6000)).toMatchObject({ ceiling: START + 6000 });
  });

  it('leaves the newest timestamp even when the registry is away at the end', async () => {
    const first = makeProcess();
    const claim = await first.registry.acquire(first.holder, at(START + HORIZON));
    first.remote.line = 'down';
    await expect(first.registry.release(claim, START)).rejects.toMatchObject(UNREACHABLE);
    await first.registry.close();
    const second = makeProcess();
    second.remote.line = 'down';
    expect(await second.registry.acquire(second.holder, at(0))).toMatchObject({ previousCeiling: START });
    second.remote.line = 'up';
    const extended = await second.registry.extend({ ...claim, version: second.holder.leaseId }, START + 3 * HORIZON);
    expect(extended.ceiling).toBe(START + 3 * HORIZON);
  });

  it('that is cut off anywhere is refused, never read as another worker or an earlier time', async () => {
    await crashed();
    const whole = await readFile(file(), 'utf8');
    for (let length = 0; length < whole.length; length++) {
      await writeFile(file(), whole.slice(0, length));
      const { registry, holder } = makeProcess();
      await expect(registry.acquire(holder, at(START + HORIZON))).rejects.toMatchObject({
        code: 'LEAF_WORKER_FILE_INVALID',
      });
    }
    await writeFile(file(), whole.replace('10.0.0.7', '10.0.0.8'));
    const foreign = makeProcess();
    await expect(foreign.registry.acquire(foreign.holder, at(START))).rejects.toThrow('10.0.0.8:8080');
  });

  it('belongs to one process at a time', async () => {
    const first = makeProcess();
    await first.registry.acquire(first.holder, at(START));
    const second = makeProcess();
    await expect(second.registry.acquire(second.holder, at(START))).rejects.toMatchObject({ code: 'LEAF_WORKER_HELD' });
  });
});
