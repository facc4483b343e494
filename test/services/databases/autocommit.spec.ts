import { DataSource } from 'typeorm';
import { createSegmentStore, type DatabaseTarget, sharedTarget, parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect, FAILOVER } from '../../support/contract/sql-stores';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';

const TAG = 'leaf-segment-test';

describe('a server whose sessions begin with autocommit off', () => {
  let mariadb: MariadbServer;
  beforeAll(async () => (mariadb = await startMariadb()));
  afterEach(() => mariadb.query('SET GLOBAL autocommit = 1'));
  afterAll(() => mariadb.stop());

  /** Takes ranges, and one more over another connection. */
  async function firstOfEach(target: DatabaseTarget, change: () => Promise<unknown>): Promise<bigint[]> {
    const taken: bigint[] = [];
    const one = await connect(target, false);
    try {
      const store = createSegmentStore(one, FAILOVER);
      taken.push((await store.allocate(TAG, 10)).from);
      await change();
      for (let i = 0; i < 3; i++) taken.push((await store.allocate(TAG, 10)).from);
    } finally {
      await one.destroy();
    }
    const other = await connect(target, false);
    try {
      taken.push((await createSegmentStore(other, FAILOVER).allocate(TAG, 10)).from);
    } finally {
      await other.destroy();
    }
    return taken;
  }

  it.each(['from the start', 'since a moment ago'])('gives every ID once: %s', async (since) => {
    const cut = async (): Promise<void> => {
      await mariadb.query('SET GLOBAL autocommit = 0');
      await mariadb.endSessions();
    };
    if (since === 'from the start') await mariadb.query('SET GLOBAL autocommit = 0');
    const target = parseDatabaseUrl(await mariadb.createDatabase());
    await (await connect(target)).destroy();
    expect(await firstOfEach(target, cut)).toEqual([1n, 11n, 21n, 31n, 41n]);
  });

  it('gives every ID once to an application whose sessions are so', async () => {
    await mariadb.query('SET GLOBAL autocommit = 0');
    const url = await mariadb.createDatabase();
    await (await connect(parseDatabaseUrl(url))).destroy();
    const host = await new DataSource({ type: 'mysql', url }).initialize();
    try {
      expect(await firstOfEach(sharedTarget(host), () => Promise.resolve())).toEqual([1n, 11n, 21n, 31n, 41n]);
    } finally {
      await host.destroy();
    }
  });
});
