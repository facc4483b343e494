import type { WorkerClaim, WorkerRegistry } from '@leaf/core';
import { holderAt, type LossySession, NAME, openSession, zkNormal, zkRecycle } from '../contract/zk-registries';
import { startZookeeper, type ZookeeperServer } from '../support/zookeeper';
import { requireZookeeperClient } from '../support/zookeeper-client';

const SERVERS = 64;
/** Each of them reads the whole pool, in this one process. */
const SOME = 16;
const POOL = 1024;
const TTL = 3_600_000;
const WORKERS = `/snowflake/${NAME}/recycle/workers`;

let server: ZookeeperServer;
let sessions: LossySession[] = [];

beforeAll(async () => {
  await requireZookeeperClient();
  server = await startZookeeper();
});
afterAll(() => server.stop());
beforeEach(async () => {
  const database = await server.createDatabase();
  sessions = Array.from({ length: SERVERS }, () => openSession(database));
});
afterEach(async () => {
  for (const session of sessions) await session.close();
});

/** Server `n` of many. */
function acquire(registry: WorkerRegistry, n: number): Promise<WorkerClaim> {
  return registry.acquire(holderAt(n), (recorded) => Math.max(Date.now() + TTL, recorded + 1));
}

function workersOf(claims: readonly WorkerClaim[]): number[] {
  return claims.map(({ workerId }) => workerId).sort((a, b) => a - b);
}

function from0To(size: number): number[] {
  return Array.from({ length: size }, (_, n) => n);
}

describe.each<[string, (session: LossySession) => WorkerRegistry]>([
  ['zk_normal', (session) => zkNormal(session)],
  ['zk_recycle', (session) => zkRecycle(session)],
])('%s on an empty ZooKeeper', (_name, open) => {
  it(`gives ${SERVERS} servers that start at once a worker ID each, and lets each keep it`, async () => {
    const registries = sessions.map(open);
    const claims = await Promise.all(registries.map((registry, n) => acquire(registry, n)));
    expect(new Set(workersOf(claims)).size).toBe(SERVERS);
    const extended = await Promise.all(registries.map((each, n) => each.extend(claims[n]!, Date.now() + 2 * TTL)));
    expect(workersOf(extended)).toEqual(workersOf(claims));
  });
});

it('zk_normal gives the first servers the first worker IDs, and each its own again', async () => {
  const first = await Promise.all(sessions.map((session, n) => acquire(zkNormal(session), n)));
  expect(workersOf(first)).toEqual(from0To(SERVERS));
  const again = await Promise.all(sessions.map((session, n) => acquire(zkNormal(session), n)));
  expect(again.map(({ workerId }) => workerId)).toEqual(first.map(({ workerId }) => workerId));
});

it(`zk_recycle gives ${POOL} that race for ${POOL} one each, and the next none`, async () => {
  const registries = from0To(POOL).map((n) => zkRecycle(sessions[n % SERVERS]!));
  const claims = await Promise.all(registries.map((registry, n) => acquire(registry, n)));
  expect(workersOf(claims)).toEqual(from0To(POOL));
  await expect(acquire(registries[0]!, POOL)).rejects.toMatchObject({
    code: 'LEAF_WORKERS_USED_UP',
    message: expect.stringContaining('1024 in use'),
  });
});

it(`zk_recycle gives ${SOME} that start at once one each of ${POOL} that were all used before`, async () => {
  const record = { state: 'notuse', ip: '10.0.0.9', port: '80', leaseId: 'earlier' };
  await sessions[0]!.ensurePath(WORKERS);
  await Promise.all(
    from0To(POOL).map((n) =>
      sessions[n % SERVERS]!.create(`${WORKERS}/${n}`, JSON.stringify({ ...record, ceiling: n }), 'persistent'),
    ),
  );
  const some = sessions.slice(0, SOME);
  const claims = await Promise.all(some.map((session, n) => acquire(zkRecycle(session), n)));
  expect(new Set(workersOf(claims)).size).toBe(SOME);
  // The half that was used longest ago.
  for (const { workerId } of claims) expect(workerId).toBeLessThan(POOL / 2 + SOME);
});

it(`zk_recycle gives ${SERVERS} that start at once the last ${SERVERS} worker IDs`, async () => {
  const maxWorkerId = SERVERS - 1;
  const claims = await Promise.all(sessions.map((session, n) => acquire(zkRecycle(session, { maxWorkerId }), n)));
  expect(workersOf(claims)).toEqual(from0To(SERVERS));
  await Promise.all(
    claims.map(({ workerId, version }, n) =>
      zkRecycle(sessions[n]!, { maxWorkerId }).release({ workerId, version, previousCeiling: 0, ceiling: 0 }, n),
    ),
  );
  const again = await Promise.all(sessions.map((session, n) => acquire(zkRecycle(session, { maxWorkerId }), n)));
  expect(workersOf(again)).toEqual(from0To(SERVERS));
});
