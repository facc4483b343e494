import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SystemClock } from '@leaf-ids/core';
import { serverClock } from '../shared/server-clock';
import { EtcdClient } from './etcd-client';
import { EtcdWorkerStore, formatVersion, parseVersion } from './etcd-store';

const UNREACHABLE = { code: 'LEAF_REGISTRY_UNREACHABLE' };
const header = { cluster_id: '1', member_id: '2', revision: '3' };

let server: Server;
let answer: (path: string) => { status?: number; body: object | string };
let client: EtcdClient;

beforeEach(async () => {
  server = createServer((request, response) => {
    const { status = 200, body } = answer(request.url ?? '');
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = open();
});
afterEach(async () => {
  client.close();
  server.close();
  await once(server, 'close');
});

function open(credentials?: { user: string; password: string }): EtcdClient {
  const endpoint = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const options = { endpoints: [endpoint], callMs: 10_000, ...(credentials && { credentials }) };
  return new EtcdClient(options, new SystemClock(), () => 0);
}

describe('the client of etcd', () => {
  it.each([
    ['another service', { body: {} }, 'the response is not that of etcd 3.4 or later'],
    ['a proxy', { status: 502, body: '<html>' }, 'status 502'],
    ['a busy member', { status: 503, body: { code: 14, message: 'etcdserver: no leader' } }, 'etcdserver: no leader'],
  ])('does not take the answer of %s', async (_, given, reason) => {
    answer = () => given;
    const message = expect.stringContaining(reason) as string;
    await expect(client.call('/v3/kv/range', {})).rejects.toMatchObject({ ...UNREACHABLE, message });
  });

  it('asks again for a token after a failure', async () => {
    const other = open({ user: 'leaf', password: 'secret' });
    answer = (path) => ({ body: path.endsWith('authenticate') ? {} : { header } });
    const message = expect.stringContaining('it has returned no token') as string;
    await expect(other.call('/v3/kv/range', {})).rejects.toMatchObject({ ...UNREACHABLE, message });
    answer = (path) => ({ body: path.endsWith('authenticate') ? { token: 't' } : { header } });
    expect(await other.call('/v3/kv/range', {})).toMatchObject({ header: { source: '1', member: '2', revision: 3 } });
    other.close();
  });

  it('asks for another token when the member does not know its own, and repeats the request', async () => {
    const other = open({ user: 'leaf', password: 'secret' });
    let tokens = 0;
    let known = 1;
    answer = (path) => {
      if (path.endsWith('authenticate')) return { body: { token: `t${++tokens}` } };
      return tokens === known
        ? { body: { header } }
        : { status: 401, body: { code: 16, message: 'invalid auth token' } };
    };
    await other.call('/v3/kv/range', {});
    expect(tokens).toBe(1);
    known = 2;
    await expect(other.call('/v3/kv/range', {})).resolves.toMatchObject({ header: { member: '2' } });
    expect(tokens).toBe(2);
    other.close();
  });

  it('reads no clock from an answer without a date', () => {
    expect(() => serverClock({ status: 200, headers: {}, text: '' })).toThrow('no date');
  });
});

describe('the store in etcd', () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const valuesOf = (...values: string[]): object => ({
    header,
    raftIndex: '9',
    kvs: values.map((value, n) => ({
      key: base64(`/leaf/leaf/workers/${n}`),
      value: base64(value),
      mod_revision: '3',
    })),
  });

  it('refuses a document and a record that it cannot read, and skips such a record in the list', async () => {
    answer = () => ({ body: valuesOf('{"torn') });
    const store = new EtcdWorkerStore(client, 'leaf');
    const INVALID = { code: 'LEAF_WORKER_FILE_INVALID' };
    await expect(store.readRegistry()).rejects.toMatchObject({
      ...INVALID,
      message: expect.stringContaining('/registry') as string,
    });
    await expect(store.read(0)).rejects.toMatchObject({
      ...INVALID,
      message: expect.stringContaining('/workers/0') as string,
    });
    expect(await store.list()).toStrictEqual([]);
    answer = () => ({ body: { ...valuesOf(), kvs: [{ key: base64('/leaf/leaf/workers/0'), mod_revision: '3' }] } });
    expect(await store.list()).toStrictEqual([]);
  });

  it('does not compare the index of one member with a read of another', async () => {
    let requests = 0;
    answer = () => ({ body: { header: { ...header, member_id: String(requests++) }, raftIndex: '9' } });
    const message = expect.stringContaining('different members') as string;
    await expect(new EtcdWorkerStore(client, 'leaf').readRegistry()).rejects.toMatchObject({ ...UNREACHABLE, message });
    expect(requests).toBe(30);
  });

  it('numbers no records', async () => {
    const record = { instance: { ip: 'a', port: 1 }, leaseId: 'b', write: 1, ceiling: 7, free: false };
    const registry = { document: undefined, origin: '', version: '' };
    expect(await new EtcdWorkerStore(client, 'leaf').create(registry, record, undefined)).toBeUndefined();
  });

  it('treats an invalid version as the version of no key', () => {
    expect(parseVersion('/a', 'x')).toEqual({ key: '/a', revision: -1, value: undefined });
    const missing = { key: '/a', revision: 0, value: undefined };
    expect(parseVersion('/a', formatVersion(missing))).toEqual(missing);
  });
});
