import { SystemClock } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { createSegmentStore, type LeafDataSource, openDatabase, parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect, FAILOVER, PATIENT } from '../../support/contract/sql-stores';
import { freePort } from '../../support/free-port';
import type { PostgresServer } from '../../support/servers/postgres';
import { type PostgresPair, startPostgresPair } from '../../support/servers/postgres-pair';
import { until } from '../../support/until';

const TAG = 'leaf-segment-test';

/** The database of a URL, on these servers. */
function urlOn(url: string, ...ports: readonly number[]): string {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  return url.replace(/127\.0\.0\.1:\d+/, hosts);
}

describe('a PostgreSQL URL with several hosts', () => {
  let pair: PostgresPair;
  let opened: LeafDataSource | undefined;
  beforeEach(async () => (pair = await startPostgresPair({ synchronous: true })));
  afterEach(async () => {
    await opened?.destroy();
    opened = undefined;
    await pair.stop();
  });

  async function count(server: PostgresServer): Promise<number> {
    const sql = "SELECT COUNT(*)::int AS count FROM pg_stat_activity WHERE application_name = 'leaf'";
    const { rows } = await server.query(sql);
    return (rows[0] as { count: number }).count;
  }

  it('leads to the one that takes writes, and to another one after a failover', async () => {
    const { primary, replica } = pair;
    const url = urlOn(await primary.createDatabase(), await freePort(), replica.port, primary.port);
    opened = await connect(parseDatabaseUrl(`${url}?target_session_attrs=read-write&timeout=8000`));
    const moved: string[] = [];
    const store = createSegmentStore(opened, { gapSteps: 10, onFailover: (message) => moved.push(message) });
    const before = await store.allocate(TAG, 10);
    expect(await count(primary)).toBeGreaterThan(0);
    // The connections that only checked the host are closed.
    await until('end of what asked the replica', async () => (await count(replica)) === 0);

    await primary.kill();
    await expect(store.allocate(TAG, 10)).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    await pair.promote();
    const after = await store.allocate(TAG, 10);
    expect(after.from).toBeGreaterThan(before.to);
    expect(moved).toHaveLength(1);
    expect(await count(pair.primary)).toBeGreaterThan(0);
  });

  it('goes on in the middle of a call when the primary becomes read-only', async () => {
    const { primary, replica } = pair;
    const url = urlOn(await primary.createDatabase(), primary.port, replica.port);
    opened = await connect(parseDatabaseUrl(`${url}?timeout=8000`));
    const store = createSegmentStore(opened, { gapSteps: 10, onFailover: () => undefined });
    await store.allocate(TAG, 10);
    await pair.stopReplication();
    const old = primary;
    await pair.promote();
    await old.turnReadOnly();
    expect((await store.allocate(TAG, 10)).from).toBeGreaterThan(10n);
    expect(await count(pair.primary)).toBeGreaterThan(0);
  });

  it('passes over a host that does not answer', async () => {
    const { primary, replica } = pair;
    const url = urlOn(await primary.createDatabase(), replica.port, primary.port);
    await pair.stopReplication();
    await replica.suspend();
    try {
      opened = await connect(parseDatabaseUrl(`${url}?timeout=6000`));
      const store = createSegmentStore(opened, FAILOVER);
      expect((await store.allocate(TAG, 10)).from).toBe(1n);
    } finally {
      await replica.resume();
    }
  });

  it('names each host when none takes writes', async () => {
    const { primary, replica } = pair;
    const url = await primary.createDatabase();
    await (await connect(parseDatabaseUrl(url))).destroy();
    await pair.waitForReplica();
    const nowhere = await freePort();
    const target = parseDatabaseUrl(urlOn(url, replica.port, nowhere));
    const options = { target, migrate: false, attempts: 2, limits: PATIENT, onCloseProblem: () => undefined };
    const opening = openDatabase(options, new SystemClock(), systemRandom);
    await expect(opening).rejects.toMatchObject({ code: 'LEAF_DATABASE_UNUSABLE' });
    await expect(opening).rejects.toThrow(`127.0.0.1:${replica.port}: read-only`);
    await expect(opening).rejects.toThrow(new RegExp(`127.0.0.1:${nowhere}: .*ECONNREFUSED`));
  });

  it('with one host refuses a replica, and names a wrong user at once', async () => {
    const { primary, replica } = pair;
    const url = await primary.createDatabase();
    const open = (text: string): Promise<LeafDataSource> =>
      openDatabase(
        {
          target: parseDatabaseUrl(text),
          migrate: false,
          attempts: 1,
          limits: PATIENT,
          onCloseProblem: () => undefined,
        },
        new SystemClock(),
        systemRandom,
      );
    const one = `${urlOn(url, replica.port)}?target_session_attrs=read-write`;
    await expect(open(one.replace(/leaf_\w+/, 'nothing'))).rejects.toThrow(/nothing does not exist\. Create it/);
    await pair.waitForReplica();
    await expect(open(one)).rejects.toThrow('read-only');
    const nobody = urlOn(url.replace('postgres@', 'nobody@'), primary.port, replica.port);
    await expect(open(nobody)).rejects.toThrow('role "nobody" does not exist');
  });
});
