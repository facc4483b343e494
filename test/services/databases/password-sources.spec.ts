import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createSegmentStore, type LeafDataSource, parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect, FAILOVER } from '../../support/contract/sql-stores';
import { startMariadb } from '../../support/servers/mariadb';
import { startPostgres } from '../../support/servers/postgres';
import { run } from '../../support/servers/services';

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

/** The parameter by which the password in `file` is found. */
const SOURCES = {
  passwordFile: () => `passwordFile=${file}`,
  passwordCommand: () => `passwordCommand=${encodeURIComponent(`cat '${file}'; exit $?`)}`,
};

describe.each(Object.entries(ENGINES))('a password of %s', (_, engine) => {
  it.each(Object.entries(SOURCES))('by %s is read for each connection, and told to nobody', async (__, parameter) => {
    const host = await engine.start();
    let dataSource: LeafDataSource | undefined;
    try {
      const target = parseDatabaseUrl(`${await host.createOwnedDatabase()}?${parameter()}`);
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

describe.each(['mysql', 'postgres'])('the passwordCommand of a URL of %s', (scheme) => {
  const urlWith = (command: string, more = ''): string =>
    `${scheme}://leaf@127.0.0.1/leaf?passwordCommand=${encodeURIComponent(command)}${more}`;

  it.each([
    ['exit 3', 'exited with status 3'],
    ['true', 'printed nothing'],
    ['kill -9 $$', 'was killed by SIGKILL'],
    ['head -c 100000 /dev/zero', 'printed more than'],
  ])('%s is refused at the start', async (end, problem) => {
    const secrets = end === 'exit 3' ? `echo ${SECRETS[0]}; echo ${SECRETS[1]} >&2; ` : '';
    const error: unknown = await connect(parseDatabaseUrl(urlWith(secrets + end))).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'LEAF_CONFIG_INVALID', message: expect.stringContaining(problem) as string });
    for (const secret of SECRETS) expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(secret);
  });

  it('has as much time as a connection has', async () => {
    const startedAt = performance.now();
    await expect(connect(parseDatabaseUrl(urlWith('exec sleep 60', '&timeout=300')))).rejects.toThrow('within 300 ms');
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });

  it('is the only password of its URL, and in no description', () => {
    expect(() => parseDatabaseUrl(urlWith('true', '&passwordFile=/run/token'))).toThrow('keep one of them');
    expect(() => parseDatabaseUrl(urlWith('true').replace('leaf@', 'leaf:x@'))).toThrow('keep one of them');
    expect(parseDatabaseUrl(urlWith('echo secret')).description).not.toContain('secret');
  });
});
