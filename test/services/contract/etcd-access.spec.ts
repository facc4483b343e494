import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LeafError, SystemClock, type WorkerStore } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import type { EtcdAccess } from '../../../libs/registry/src/stores/etcd/etcd-address';
import { strategyOf } from '../../../libs/registry/src/strategies/strategies';
import { type EtcdServer, startEtcd } from '../../support/servers/etcd';
import { run } from '../../support/servers/services';

const UNREACHABLE = { code: 'LEAF_REGISTRY_UNREACHABLE' };
const stores: WorkerStore[] = [];

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

function open(etcd: EtcdAccess, name = 'leaf'): WorkerStore {
  const context = { clock: new SystemClock(), random: systemRandom, onCloseProblem: () => undefined };
  const { store } = strategyOf({ strategy: 'etcd', etcd, name }).create(context);
  stores.push(store);
  return store;
}

async function refusalOf(store: WorkerStore): Promise<LeafError> {
  const error: unknown = await store.readRegistry().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(LeafError);
  return error as LeafError;
}

describe('etcd with users', () => {
  let server: EtcdServer;

  beforeAll(async () => {
    server = await startEtcd();
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const users = [
      { name: 'root', password: 'root-secret' },
      { name: 'leaf', password: 's:cret' },
      { name: 'other', password: 'other-secret' },
    ];
    for (const user of users) await server.post('/v3/auth/user/add', user);
    for (const role of ['root', 'leaf']) {
      await server.post('/v3/auth/role/add', { name: role });
      await server.post('/v3/auth/user/grant', { user: role, role });
    }
    const perm = { permType: 'READWRITE', key: base64('/leaf/leaf/'), range_end: base64('/leaf/leaf0') };
    await server.post('/v3/auth/role/grant', { name: 'leaf', perm });
    // Credentials are no fault while nobody is asked for them.
    await open({ endpoints: server.endpoint, auth: 'leaf:s:cret' }).readRegistry();
    await server.post('/v3/auth/enable', {});
  });
  afterAll(() => server.stop());

  it('serves a user with a role for the keys of this service', async () => {
    const store = open({ endpoints: server.endpoint, auth: 'leaf:s:cret' });
    const record = { instance: { ip: 'a', port: 1 }, leaseId: 'f00d', write: 1, ceiling: 7, free: false };
    const registry = await store.readRegistry();
    expect(await store.create(registry, record, 3)).toMatchObject({ workerId: 3, record });
    expect(await store.list()).toHaveLength(1);
    expect(await store.peers(6)).toEqual([{ instance: 'a:1', workerId: 3 }]);
  });

  it('renews a token that the server has forgotten', async () => {
    const store = open({ endpoints: server.endpoint, auth: 'leaf:s:cret' });
    await store.readRegistry();
    await server.restart();
    const reads = Array.from({ length: 5 }, () => store.read(7, { ip: 'a', port: 1 }));
    expect(await Promise.all(reads)).toEqual(Array(5).fill(undefined));
  });

  it.each([
    ['no credentials', undefined, 'leaf', 'user name is empty'],
    ['a wrong password', 'leaf:wrong-secret', 'leaf', 'authentication failed'],
    ['a user without a role', 'other:other-secret', 'leaf', 'permission denied'],
    ['a role for other keys', 'leaf:s:cret', 'leaf2', 'permission denied'],
  ])('refuses %s as a fault of the configuration, without the secret', async (_, auth, name, reason) => {
    const error = await refusalOf(open({ endpoints: server.endpoint, ...(auth && { auth }) }, name));
    expect(error.code).toBe('LEAF_CONFIG_INVALID');
    expect(error.message).toContain(reason);
    expect(error.message).toContain('snowflake.registry.etcd.auth');
    expect(error.message).not.toMatch(/s:cret|-secret/);
  });
});

describe('etcd with certificates', () => {
  let directory: string;
  let server: EtcdServer;
  const file = (name: string): string => join(directory, name);
  const client = { certFile: '', keyFile: '' };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'leaf-etcd-tls-'));
    for (const name of ['ca', 'other']) {
      const key = ['-keyout', file(`${name}.key`), '-out', file(`${name}.pem`)];
      await run('openssl', [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-subj',
        `/CN=${name}`,
        '-days',
        '2',
        ...key,
      ]);
    }
    await run('openssl', [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=etcd', '-days', '2'],
      ...['-addext', 'subjectAltName=IP:127.0.0.1', '-CA', file('ca.pem'), '-CAkey', file('ca.key')],
      ...['-addext', 'extendedKeyUsage=serverAuth,clientAuth', '-keyout', file('leaf.key'), '-out', file('leaf.pem')],
    ]);
    Object.assign(client, { certFile: file('leaf.pem'), keyFile: file('leaf.key') });
    const tls = ['--cert-file', client.certFile, '--key-file', client.keyFile, '--trusted-ca-file', file('ca.pem')];
    server = await startEtcd([...tls, '--client-cert-auth']);
  });
  afterAll(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });

  it('serves a client with a certificate', async () => {
    const store = open({ endpoints: server.endpoint, caFile: file('ca.pem'), ...client });
    expect((await store.readRegistry()).document).toBeUndefined();
    expect(store.description).toBe(`https://127.0.0.1:${server.port}/leaf/leaf`);
  });

  it.each([
    ['a server of another authority', { caFile: 'other.pem', ...{ certFile: 'leaf.pem', keyFile: 'leaf.key' } }],
    ['without a client certificate', { caFile: 'ca.pem' }],
    ['with a file that does not exist', { caFile: 'missing.pem' }],
  ])('does not connect to or as %s', async (_, names) => {
    const files = Object.fromEntries(Object.entries(names).map(([option, name]) => [option, file(name)]));
    expect(await refusalOf(open({ endpoints: server.endpoint, ...files }))).toMatchObject(UNREACHABLE);
  });

  it('reads the files again after a failure', async () => {
    const caFile = file('replaced.pem');
    const store = open({ endpoints: server.endpoint, ...client, caFile });
    await refusalOf(store);
    await run('cp', [file('other.pem'), caFile]);
    await refusalOf(store);
    await run('cp', [file('ca.pem'), caFile]);
    expect((await store.readRegistry()).document).toBeUndefined();
  });
});
