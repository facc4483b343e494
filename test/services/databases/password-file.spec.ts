import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createSegmentStore, type LeafDataSource, parseDatabaseUrl } from '@leaf/persistence';
import { connect, FAILOVER } from '../../contract/sql-stores';
import { startMariadb } from '../../support/mariadb';
import { startPostgres } from '../../support/postgres';
import { run } from '../../support/services';

const TAG = 'leaf-segment-test';
const SECRETS = ['first-5b1f', 'second-a07c', 'third-99d2'] as const;

interface Host {
  createOwnedDatabase(): Promise<string>;
  query(sql: string): Promise<unknown>;
  stop(): Promise<void>;
}

interface Engine {
  readonly start: () => Promise<Host>;
  readonly change: (password: string) => string;
  readonly end: string;
}

let directory: string;
let file: string;

const ENGINES: Readonly<Record<string, Engine>> = {
  MariaDB: {
    start: () => startMariadb(),
    change: (password) => `ALTER USER leaf@'127.0.0.1' IDENTIFIED BY '${password}'`,
    end: 'KILL USER leaf',
  },
  PostgreSQL: {
    start: async () => {
      const server = await startPostgres();
      const access = join(directory, 'hba.conf');
      await writeFile(access, 'host all leaf all scram-sha-256\nhost all postgres all trust\n');
      await server.query(`ALTER SYSTEM SET hba_file = '${access}'`);
      await server.restart();
      return server;
    },
    change: (password) => `ALTER ROLE leaf PASSWORD '${password}'`,
    end: "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE usename = 'leaf'",
  },
};

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'leaf-password-'));
  await run('chmod', ['755', directory]);
  file = join(directory, 'password');
});
afterEach(() => rm(directory, { recursive: true }));

describe.each(Object.entries(ENGINES))('a password of %s in a file', (_, engine) => {
  it('is read for each connection, and told to nobody', async () => {
    const host = await engine.start();
    let dataSource: LeafDataSource | undefined;
    try {
      const target = parseDatabaseUrl(`${await host.createOwnedDatabase()}?passwordFile=${file}`);
      const rotate = async (password: string): Promise<void> => {
        await host.query(engine.change(password));
        await host.query(engine.end);
      };
      await rotate(SECRETS[0]);
      await writeFile(file, `${SECRETS[0]}\n`);
      dataSource = await connect(target);
      const store = createSegmentStore(dataSource, FAILOVER);
      await store.allocate(TAG, 10);

      await rotate(SECRETS[1]);
      await writeFile(file, SECRETS[1]);
      await store.allocate(TAG, 10);

      await rm(file);
      await host.query(engine.end);
      await store.allocate(TAG, 10);

      await rotate(SECRETS[2]);
      const error: unknown = await store.allocate(TAG, 10).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
      for (const secret of SECRETS) expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(secret);

      await writeFile(file, SECRETS[2]);
      expect(await store.allocate(TAG, 10)).toMatchObject({ from: 31n });
    } finally {
      await dataSource?.destroy();
      await host.stop();
    }
  });
});

it.each(['mysql', 'postgres'])('a start names a file that gives %s no password', async (scheme) => {
  const target = parseDatabaseUrl(`${scheme}://leaf@127.0.0.1/leaf?passwordFile=${file}`);
  const refused = { code: 'LEAF_CONFIG_INVALID', message: expect.stringContaining(file) as string };
  await expect(connect(target)).rejects.toMatchObject(refused);
  await writeFile(file, '\n');
  await expect(connect(target)).rejects.toMatchObject(refused);
});
