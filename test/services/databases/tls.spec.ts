import { chown, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect } from '../../support/contract/sql-stores';
import { startMariadb } from '../../support/servers/mariadb';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres';
import type { PrivateServer } from '../../support/servers/private-server';
import { run } from '../../support/servers/services';
import { until } from '../../support/until';

interface TlsServer extends PrivateServer {
  query(sql: string): Promise<unknown>;
  createDatabase(): Promise<string>;
  /** Whose owner has to show a certificate, where servers ask for one. */
  createOwnedDatabase(): Promise<string>;
}

let directory: string;
const file = (name: string): string => join(directory, name);

/** An authority, and a certificate of it for the address that the tests connect to, or for another one. */
async function makeCertificate(name: string, subject: string): Promise<void> {
  await run('openssl', [
    ...['req', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=leaf-test', '-addext', `subjectAltName=${subject}`],
    ...['-x509', '-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-days', '2'],
    ...['-keyout', file(`${name}.key`), '-out', file(`${name}.pem`)],
  ]);
}

/** Its end came before its beginning: a day ago. */
async function makeExpired(name: string, subject: string): Promise<void> {
  const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout', file(`${name}.key`)];
  await run('openssl', [
    'req',
    ...key,
    '-subj',
    '/CN=leaf-test',
    '-addext',
    `subjectAltName=${subject}`,
    '-out',
    file('csr'),
  ]);
  const authority = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-copy_extensions', 'copy'];
  await run('openssl', ['x509', '-req', '-in', file('csr'), ...authority, '-days', '-1', '-out', file(`${name}.pem`)]);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'leaf-tls-'));
  await run('chmod', ['755', directory]);
  await run('openssl', [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=leaf-test-authority', '-days', '2'],
    ...['-keyout', file('ca.key'), '-out', file('ca.pem')],
  ]);
  await makeCertificate('here', 'DNS:localhost');
  await makeCertificate('client', 'DNS:client.example');
  await makeCertificate('elsewhere', 'DNS:elsewhere.example');
  await writeFile(
    file('other-ca.pem'),
    await run('openssl', ['x509', '-in', file('elsewhere.pem')]).then((o) => o.stdout),
  );
});
afterAll(() => rm(directory, { recursive: true }));

async function startMariadbWithTls(name: string): Promise<TlsServer> {
  return startMariadb([`--ssl-cert=${file(`${name}.pem`)}`, `--ssl-key=${file(`${name}.key`)}`]);
}

async function startPostgresWithTls(name: string): Promise<PostgresServer> {
  const server = await startPostgres();
  if (process.getuid?.() === 0) {
    const { stdout } = await run('id', ['-u', 'postgres']);
    await chown(file(`${name}.key`), Number(stdout), 0);
  }
  await server.query(`ALTER SYSTEM SET ssl_cert_file = '${file(`${name}.pem`)}'`);
  await server.query(`ALTER SYSTEM SET ssl_key_file = '${file(`${name}.key`)}'`);
  await server.query('ALTER SYSTEM SET ssl = on');
  await server.restart();
  return server;
}

async function startMariadbWithAuthority(): Promise<TlsServer> {
  const files = [`--ssl-cert=${file('here.pem')}`, `--ssl-key=${file('here.key')}`, `--ssl-ca=${file('ca.pem')}`];
  const server = await startMariadb(files);
  await server.query("CREATE USER leaf@'127.0.0.1' REQUIRE X509");
  return server;
}

async function startPostgresWithAuthority(): Promise<TlsServer> {
  const lines = ['hostssl all leaf all trust clientcert=verify-ca', 'host all postgres all trust'];
  await writeFile(file('hba.conf'), lines.join('\n'));
  const server = await startPostgresWithTls('here');
  await server.query(`ALTER SYSTEM SET hba_file = '${file('hba.conf')}'`);
  await server.query(`ALTER SYSTEM SET ssl_ca_file = '${file('ca.pem')}'`);
  await server.restart();
  return server;
}

describe.each<[string, string, string, (name: string) => Promise<TlsServer>]>([
  ['MariaDB', "SHOW STATUS LIKE 'Ssl_cipher'", 'FLUSH SSL', startMariadbWithTls],
  [
    'PostgreSQL',
    'SELECT cipher AS "Value" FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
    'SELECT pg_reload_conf()',
    startPostgresWithTls,
  ],
])('TLS to %s', (_name, askCipher, readAnew, start) => {
  let here: TlsServer;
  let elsewhere: TlsServer;
  beforeAll(async () => {
    here = await start('here');
    elsewhere = await start('elsewhere');
  });
  afterAll(async () => {
    await here.stop();
    await elsewhere.stop();
  });

  async function cipherOf(server: TlsServer, parameters: string): Promise<string> {
    const dataSource = await connect(
      parseDatabaseUrl(`${(await server.createDatabase()).replace('127.0.0.1', 'localhost')}?${parameters}`),
    );
    try {
      const [row] = await dataSource.query<{ Value: string | null }[]>(askCipher);
      return row?.Value ?? '';
    } finally {
      await dataSource.destroy();
    }
  }

  it('is off unless asked for', async () => {
    expect(await cipherOf(here, 'sslmode=disable')).toBe('');
  });

  it('encrypts to whomever with sslmode=require', async () => {
    expect(await cipherOf(here, 'sslmode=require')).not.toBe('');
    expect(await cipherOf(elsewhere, 'sslmode=require')).not.toBe('');
  });

  it('encrypts to a host that proves its name with sslmode=verify-full', async () => {
    expect(await cipherOf(here, `sslmode=verify-full&sslrootcert=${file('ca.pem')}`)).not.toBe('');
  });

  it.each([
    ['that nobody vouches for', () => here, ''],
    ['that another authority vouches for', () => here, '&sslrootcert=other-ca.pem'],
    ['of another name', () => elsewhere, '&sslrootcert=ca.pem'],
  ])('does not talk to a host %s', async (_, server, parameter) => {
    const path = parameter.replace(/=(.+)/, (__, name: string) => `=${file(name)}`);
    const opening = cipherOf(server(), `sslmode=verify-full${path}`);
    await expect(opening).rejects.toMatchObject({ code: 'LEAF_DATABASE_UNUSABLE' });
    await expect(opening).rejects.toThrow(/certificate|altnames/i);
  });

  it('does not talk to a host whose certificate has expired', async () => {
    await makeExpired('expired', 'DNS:localhost');
    // Over the files that it knows, in place: they keep their owner.
    for (const ending of ['key', 'pem']) await copyFile(file(`expired.${ending}`), file(`elsewhere.${ending}`));
    await elsewhere.query(readAnew);
    await until('the new certificate', async () => {
      const opening = cipherOf(elsewhere, `sslmode=verify-full&sslrootcert=${file('ca.pem')}`);
      const error: unknown = await opening.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'LEAF_DATABASE_UNUSABLE' });
      return (error as Error).message.includes('expired');
    });
  });

  it('names a file of certificates that cannot be read', async () => {
    const opening = cipherOf(here, `sslmode=verify-full&sslrootcert=${file('none.pem')}`);
    await expect(opening).rejects.toMatchObject({ code: 'LEAF_CONFIG_INVALID' });
    await expect(opening).rejects.toThrow(file('none.pem'));
  });
});

describe.each<[string, () => Promise<TlsServer>]>([
  ['MariaDB', startMariadbWithAuthority],
  ['PostgreSQL', startPostgresWithAuthority],
])('a client certificate, which %s asks for', (_, start) => {
  let server: TlsServer;
  beforeAll(async () => (server = await start()));
  afterAll(() => server.stop());

  async function open(parameters: string): Promise<void> {
    const url = (await server.createOwnedDatabase()).replace('127.0.0.1', 'localhost');
    const tls = `sslmode=verify-full&sslrootcert=${file('ca.pem')}`;
    await (await connect(parseDatabaseUrl(`${url}?${tls}${parameters}`))).destroy();
  }

  it('is shown', async () => {
    await open(`&sslcert=${file('client.pem')}&sslkey=${file('client.key')}`);
  });

  it('is missed', async () => {
    await expect(open('')).rejects.toMatchObject({ code: 'LEAF_DATABASE_UNUSABLE' });
  });

  it('is named when its file cannot be read', async () => {
    const opening = open(`&sslcert=${file('client.pem')}&sslkey=${file('none.key')}`);
    await expect(opening).rejects.toMatchObject({ code: 'LEAF_CONFIG_INVALID' });
    await expect(opening).rejects.toThrow(file('none.key'));
  });
});
