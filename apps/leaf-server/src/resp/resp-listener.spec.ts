import 'reflect-metadata';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { Logger } from '@nestjs/common';
import { FakeClock } from '@leaf-ids/core/testing';
import { Leaf } from '@leaf-ids/id';
import { makeCertificate } from '../../../../test/support/certificate';
import { RespClient } from '../../../../test/support/resp-client';
import { until } from '../../../../test/support/until';
import { ClientAccess } from '../clients/client-access';
import { loadConfig } from '../config/leaf-config';
import { OverloadCounts } from '../http/overload/refusals';
import { RequestCounts } from '../http/request-counts';
import { Drain } from '../lifecycle/drain';
import { AdminTokens, TokenSet } from '../tokens/token-set';
import { RespListener } from './resp-listener';

const ENV = { LEAF_RESP_PORT: '0', LEAF_RESP_HOST: '127.0.0.1', LEAF_SEGMENT_WAIT_MS: '5000' };

let leaf: Leaf;
let clock: FakeClock;
let counts: RequestCounts;
let overload: OverloadCounts;
let drain: Drain;
let listener: RespListener;
let clients: RespClient[];
/** Ends the commands that wait for an ID of the tag `strict`. */
let answer: (id: bigint) => void;

beforeAll(async () => {
  Logger.overrideLogger(false);
  const tags = [
    { tag: 'order', step: 1000 },
    { tag: 'strict', step: 1, order: 'strict' as const },
  ];
  leaf = await Leaf.start({ database: 'sqlite::memory:', tags });
});
afterAll(() => leaf.stop());

beforeEach(() => {
  [clock, overload, clients] = [new FakeClock(), new OverloadCounts(), []];
  [counts, drain] = [new RequestCounts(clock), new Drain(clock, 0)];
  const id = new Promise<bigint>((resolve) => (answer = resolve));
  jest.spyOn(leaf.ids, 'nextId').mockImplementation(() => id);
});
afterEach(async () => {
  for (const { socket } of clients) socket.destroy();
  listener.beforeApplicationShutdown();
  await listener.onApplicationShutdown();
  jest.restoreAllMocks();
});

/** Returns the port. */
function listen(env: NodeJS.ProcessEnv = {}): Promise<number | undefined> {
  const [tokens, admins] = [new TokenSet([], clock), new AdminTokens([], clock)];
  const access = new ClientAccess({ enabled: false, rules: {}, clients: tokens, admins }, clock);
  listener = new RespListener(loadConfig({ ...ENV, ...env }), clock, drain, counts, overload, leaf.ids, leaf, access);
  return listener.listen();
}

/** A connection whose command waits. */
async function waiting(port: number | undefined): Promise<RespClient> {
  const client = await open(port);
  client.socket.write('INCR strict\r\n');
  await until('the command', () => overload.inFlight > 0);
  return client;
}

async function open(port: number | undefined): Promise<RespClient> {
  const client = await RespClient.to(port!);
  clients.push(client);
  return client;
}

describe('the port', () => {
  it('serves each connection, and knows it by its number', async () => {
    const port = await listen();
    const [first, second] = [await open(port), await open(port)];
    expect([await first.call('CLIENT ID'), await second.call('CLIENT ID')]).toEqual([':1\r\n', ':2\r\n']);
    expect(await first.call('TIME', 5)).toBe('*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n');
    const [, last] = /^:(\d+)\r\n$/.exec(await first.call('INCRBY order 10'))!;
    expect(await second.call('INCRBY order 1')).toBe(`:${Number(last) + 1}\r\n`);
    expect(counts.all('resp').map(({ route, status, requests }) => [route, status, requests])).toEqual([
      ['CLIENT', 200, 2],
      ['TIME', 200, 1],
      ['INCRBY', 200, 2],
    ]);
  });

  it('does not exist without its setting', async () => {
    expect(await listen({ LEAF_RESP_PORT: '' })).toBeUndefined();
  });

  it('is refused if another process has it', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    await expect(listen({ LEAF_RESP_PORT: String(port) })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    taken.close();
  });

  it('is refused with a certificate that cannot be read', async () => {
    const tls = { LEAF_RESP_TLS_CERT_FILE: '/none/cert.pem', LEAF_RESP_TLS_KEY_FILE: '/none/key.pem' };
    await expect(listen(tls)).rejects.toMatchObject({
      code: 'LEAF_CONFIG_INVALID',
      message: expect.stringContaining('/none/'),
      cause: { code: 'ENOENT' },
    });
  });
});

describe('TLS', () => {
  let directory: string;
  let files: NodeJS.ProcessEnv;
  const { cert, key } = makeCertificate();
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'leaf-resp-'));
    const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
    await Promise.all([writeFile(certFile, cert), writeFile(keyFile, key)]);
    files = { LEAF_RESP_TLS_CERT_FILE: certFile, LEAF_RESP_TLS_KEY_FILE: keyFile };
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('protects the connections with the certificate of the settings', async () => {
    const port = await listen(files);
    const socket = connectTls({ port: port!, host: '127.0.0.1', ca: cert });
    await once(socket, 'secureConnect');
    socket.write('PING\r\n');
    expect(String((await once(socket, 'data'))[0])).toBe('+PONG\r\n');
    socket.destroy();
  });

  it('has room for a client beside one that begins no handshake', async () => {
    const port = await listen({ ...files, LEAF_MAX_CONNECTIONS: '1' });
    await open(port);
    clock.pause(1000);
    const socket = connectTls({ port: port!, host: '127.0.0.1', ca: cert });
    await once(socket, 'secureConnect');
    socket.write('LEAF.NEXT order 1001\r\n');
    expect(String((await once(socket, 'data'))[0])).toMatch(/^\*1001\r\n/);
    socket.destroy();
  });
});

describe('a connection', () => {
  it('that waits for an ID keeps its place, and the next one gets few IDs', async () => {
    const port = await listen({ LEAF_MAX_CONNECTIONS: '1' });
    const [first, second] = [await waiting(port), await open(port)];
    expect(await second.call('INCRBY order 1001')).toMatch(/^-LEAF_OVERLOADED /);
    expect(await second.call('CLIENT ID')).toBe(':2\r\n');
    answer(7n);
    await until('the reply', () => first.received === ':7\r\n');
  });

  it('that is idle gives its place to the next one', async () => {
    const port = await listen({ LEAF_MAX_CONNECTIONS: '1' });
    const first = await open(port);
    await first.call('PING');
    const second = await open(port);
    expect(await second.call('LEAF.NEXT order 1001')).toMatch(/^\*1001\r\n/);
    await until('the end', () => first.closed);
  });

  it('gets its reply after it has closed its side', async () => {
    const port = await listen();
    const [client, other] = [await waiting(port), await open(port)];
    client.socket.end();
    await once(client.socket, 'finish');
    // The server has read the end once it has read what came later.
    for (let n = 0; n < 3; n++) await other.call('PING');
    answer(7n);
    await until('the end', () => client.closed);
    expect(client.received).toBe(':7\r\n');
  });

  it('that leaves a command unfinished ends 15 seconds after the longest wait for IDs', async () => {
    const client = await open(await listen());
    const leaveUnfinished = async (): Promise<void> => {
      client.received = '';
      client.socket.write('PING\r\n*1\r\n');
      await until('the reply to the first command', () => client.received === '+PONG\r\n');
    };
    await leaveUnfinished();
    await clock.advance(5000 + 15_000);
    client.socket.write('$4\r\nPING\r\n');
    await until('the second reply', () => client.received === '+PONG\r\n+PONG\r\n');
    await leaveUnfinished();
    await clock.advance(5000 + 15_000 + 1000);
    await until('the end', () => client.closed);
  });

  it('has a line in the log for each command, with the address of the client', async () => {
    const log = jest.spyOn(Logger.prototype, 'log').mockReturnValue();
    clock.pause(1000);
    const client = await open(await listen({ LEAF_ACCESS_LOG: 'all' }));
    await client.call('PING');
    const line = { message: 'Request', method: 'RESP', route: 'PING', status: 200, ms: 0, address: '127.0.0.1' };
    expect(log.mock.calls).toEqual([[line]]);
  });
});

describe('a stop', () => {
  it('closes idle connections after a moment, and others after their replies', async () => {
    const port = await listen();
    const [idle, late, busy] = [await open(port), await open(port), await waiting(port)];
    for (const client of [idle, late]) await client.call('PING');
    drain.begin();
    listener.beforeApplicationShutdown();
    const stopped = jest.fn();
    const end = listener.onApplicationShutdown().then(stopped);
    await expect(RespClient.to(port!)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await late.call('PING')).toBe('+PONG\r\n');
    await clock.advance(100);
    await until('the end', () => idle.closed && late.closed);
    expect([busy.closed, stopped.mock.calls]).toEqual([false, []]);
    answer(7n);
    await until('the end', () => busy.closed);
    expect(busy.received).toBe(':7\r\n');
    await end;
  });

  it('waits for a command as long as it may wait for IDs, and two seconds more', async () => {
    const busy = await waiting(await listen());
    listener.beforeApplicationShutdown();
    await clock.advance(100);
    await clock.advance(5000 + 2000 - 1);
    expect(busy.closed).toBe(false);
    await clock.advance(1);
    await until('the end', () => busy.closed);
    await listener.onApplicationShutdown();
  });
});
