import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RegistryDocument, StoredRegistry, WorkerRecord } from '@leaf-ids/core';
import { WorkerWindows } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { PropertiesWorkerFile } from '../../../libs/registry/src/file/properties-worker-file';
import { formatToken, parseToken, PLAIN, SEQUENTIAL } from '../../../libs/registry/src/stores/zookeeper/node-layout';
import { ZookeeperFault } from '../../../libs/registry/src/stores/zookeeper/zookeeper-fault';
import type { ZookeeperWorkerStore } from '../../../libs/registry/src/stores/zookeeper/zookeeper-store';
import { givenTwice, inTime, LeaseRig, pass, REPORT_MS } from '../../support/fakes/lease-rig';
import { recovered } from '../../support/recovered';
import { until } from '../../support/until';
import { startZookeeper, type ZookeeperServer } from '../../support/servers/zookeeper';
import { requireZookeeperClient } from '../../support/servers/zookeeper-client';
import { type LossySession, NAME, openSession, removeTree, zkStore } from '../../support/contract/zk-stores';

const START = 1_700_000_000_000;

let server: ZookeeperServer;
let database: string;
let sessions: LossySession[];

beforeAll(async () => {
  await requireZookeeperClient();
  server = await startZookeeper();
});
afterAll(() => server.stop());
beforeEach(async () => {
  sessions = [];
  database = await server.createDatabase();
});
afterEach(async () => {
  for (const session of sessions) await session.close();
});

function open(): LossySession {
  const session = openSession(database);
  sessions.push(session);
  return session;
}

describe.each([
  ['the nodes of the Java service', SEQUENTIAL],
  ['a pool', PLAIN],
])('a write to %s', (_, layout) => {
  const instance = { ip: '10.0.0.7', port: 8080 };
  const recordOf = (leaseId: string, write: number): WorkerRecord => {
    return { instance, leaseId, write, ceiling: START + 1, free: false };
  };
  const documentOf = (id: string): RegistryDocument => {
    return {
      id,
      strategy: 'test',
      madeAt: 1,
      layout: 'a',
      highest: -1,
      generation: 1,
      origin: 'zookeeper',
      began: 1,
      floor: 1,
    };
  };

  /** Makes the document and worker 3, written six times each. */
  async function fill(
    store: ZookeeperWorkerStore,
    id: string,
  ): Promise<[StoredRegistry, Awaited<ReturnType<typeof store.read>>]> {
    for (let n = 0; n < 6; n++)
      await recovered(async () => store.writeRegistry(await store.readRegistry(), documentOf(id)));
    const registry = await store.readRegistry();
    let stored = await store.create(registry, recordOf(id, 1), 3);
    for (let n = 2; n < 7; n++) stored = await store.replace(stored!, recordOf(id, n));
    return [registry, stored];
  }

  it('is not carried out in a ZooKeeper that was emptied since, though the versions are equal', async () => {
    const [store, other] = [zkStore(open(), layout), zkStore(open(), layout)];
    const [registry, stored] = await fill(store, 'a');
    await server.empty();
    const [, theirs] = await fill(other, 'b');
    expect(parseToken(theirs!.version).version).toBe(parseToken(stored!.version).version);
    expect(await recovered(() => store.replace(stored!, recordOf('a', 7)))).toBeUndefined();
    expect(await recovered(() => store.create(registry, recordOf('a', 8), 4))).toBeUndefined();
    expect(await recovered(() => store.writeRegistry(registry, documentOf('a')))).toBe(false);
    expect(await other.list()).toEqual([theirs]);
    expect((await other.readRegistry()).document?.id).toBe('b');
  });

  it('goes on in another session when nothing but the session has changed', async () => {
    const store = zkStore(open(), layout);
    const [, stored] = await fill(store, 'a');
    const token = { ...parseToken(stored!.version), session: 99 };
    const foreign = { ...stored!, version: formatToken({ ...token, data: 'another' }) };
    expect(await store.replace(foreign, recordOf('a', 7))).toBeUndefined();
    const made = { ...stored!, version: formatToken({ ...token, created: 1 }) };
    expect(await store.replace(made, recordOf('a', 7))).toBeUndefined();
    const same = { ...stored!, version: formatToken(token) };
    expect(await store.replace(same, recordOf('a', 7))).toMatchObject({ record: { write: 7 } });
  });
});

it('servers do not lower a window that others extended, when its node was removed while their sessions live', async () => {
  const [clock, lease, hour] = [new FakeClock(START), 'ab'.repeat(16), 3_600_000];
  const servers = await Promise.all(
    ['10.0.0.1', '10.0.0.2'].map(async (ip) => {
      const store = zkStore(open(), PLAIN, {}, clock);
      const rig = await new LeaseRig(clock, store, { policy: 'pool', instance: { ip } }).start();
      return { rig, store, windows: new WorkerWindows(rig.registry, { ip, port: 8080 }, clock, 2) };
    }),
  );
  const rigs = servers.map(({ rig }) => rig);
  const [first, second] = servers as [(typeof servers)[number], (typeof servers)[number]];
  const { window } = await inTime(clock, first.windows.issue(lease, 'billing', hour));
  await pass(rigs, clock, REPORT_MS);
  await inTime(clock, second.windows.extend(lease, hour, window.workerId));
  await pass(rigs, clock, REPORT_MS);
  const { until } = await inTime(clock, first.windows.extend(lease, hour, window.workerId));
  await removeTree(open(), `/snowflake/${NAME}`);
  for (const { rig, store, windows } of servers) {
    await rig.report();
    await windows.keep();
    expect((await store.read(window.workerId))?.record).toMatchObject({ ceiling: until, free: false });
  }
});

describe('servers on a ZooKeeper that was emptied', () => {
  let clock: FakeClock;
  let directory: string;

  beforeEach(async () => {
    clock = new FakeClock(START);
    directory = await mkdtemp(join(tmpdir(), 'leaf-zk-faults-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const pooled = (ip: string): LeaseRig => {
    const store = zkStore(open(), PLAIN, {}, clock);
    const instance = { ip, port: 8080 };
    return new LeaseRig(clock, store, { policy: 'pool', instance, leaseTtlMs: 3_600_000, maxWorkerId: 1 });
  };

  it('keep their workers of a pool: a newcomer waits until they have registered again', async () => {
    const a = pooled('10.0.0.1');
    await a.start();
    const { workerId } = a;
    await server.empty();
    const b = pooled('10.0.0.2');
    const acquiring = recovered(() => b.lease.acquire());
    await until('the wait of the newcomer', () => clock.sleeping > 0);
    for (let n = 0; b.workerId === undefined && n < 20; n++) {
      // By the clock of the test, ZooKeeper is back at once.
      await until('a report', async () => {
        const failures = a.failures.length;
        await a.lease.report.run();
        return a.failures.length === failures;
      });
      await clock.advance(REPORT_MS);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await inTime(clock, acquiring);
    expect([a.workerId, b.workerId].sort()).toEqual([0, 1]);
    expect(a.workerId).toBe(workerId);
    expect([a.losses, b.losses]).toEqual([[], []]);
    expect(await givenTwice([a, b], clock, 6000)).toStrictEqual([]);
  });

  it('leave the node of another instance alone that has the number in their file', async () => {
    const make = (host: string, ip: string): [LeaseRig, LossySession, PropertiesWorkerFile] => {
      const [session, file] = [open(), new PropertiesWorkerFile(join(directory, host))];
      const store = zkStore(session, SEQUENTIAL, {}, clock);
      const instance = { ip, port: 8080 };
      return [new LeaseRig(clock, store, { policy: 'fixed', file, instance }), session, file];
    };
    const [a, , file] = make('h1', '10.0.0.7');
    await a.start();
    await pass([a], clock, 4 * REPORT_MS);
    file.close();
    await server.empty();
    const [b] = make('h2', '10.0.0.9');
    await recovered(() => b.start());
    expect(b.workerId).toBe(a.workerId);
    const [again, line, againFile] = make('h1', '10.0.0.7');
    line.down = true;
    await again.start();
    await pass([b], clock, 4 * REPORT_MS);
    line.down = false;
    await again.report();
    await until('another worker', async () => {
      await inTime(clock, again.lease.acquire());
      return again.workerId !== undefined;
    });
    expect([again.workerId, b.workerId]).toEqual([1, 0]);
    expect(await givenTwice([again, b], clock, 9000)).toStrictEqual([]);
    expect([again.losses, b.losses]).toEqual([[], []]);
    againFile.close();
  });

  it('a copied file is noticed', async () => {
    const make = (host: string): [LeaseRig, LossySession] => {
      const session = open();
      const file = new PropertiesWorkerFile(join(directory, host));
      return [new LeaseRig(clock, zkStore(session, SEQUENTIAL, {}, clock), { policy: 'fixed', file }), session];
    };
    const [a] = make('a');
    await a.start();
    await pass([a], clock, 2 * REPORT_MS);
    await cp(join(directory, 'a'), join(directory, 'b'), { recursive: true });
    const [b, line] = make('b');
    line.down = true;
    await b.start();
    line.down = false;
    await pass([a, b], clock, 4 * REPORT_MS);
    // Either has written first; the other one is stopped.
    expect(a.losses.length + b.losses.length).toBe(1);
  });

  it('credentials that are refused while running are not an outage that the file stands in for', async () => {
    const session = open();
    const file = new PropertiesWorkerFile(join(directory, 'h1'));
    const rig = new LeaseRig(clock, zkStore(session, SEQUENTIAL, {}, clock), { policy: 'fixed', file });
    await rig.start();
    const { ceiling } = rig.lease;
    session.setData = () => Promise.reject(new ZookeeperFault('denied', 'Not allowed.'));
    await pass([rig], clock, 4 * REPORT_MS);
    expect(rig.lease.ceiling).toBe(ceiling);
    expect(rig.lease.snapshot().degradedReason).toBeUndefined();
    expect(rig.failures.at(-1)).toMatchObject({ code: 'LEAF_CONFIG_INVALID' });
    file.close();
  });
});
