import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { admin, ADMIN_TOKEN } from '../support/http/admin';
import { call } from '../support/http/http';
import { freshMetrics } from '../support/http/metrics';
import { LogLines } from '../support/log-lines';
import { encode, RespClient } from '../support/resp-client';
import { makeDataDirectory, removeDataDirectory } from '../support/servers/data-directory';
import { startTestServer, type TestServer } from '../support/servers/server';
import { until } from '../support/until';

const TAG = 'leaf-segment-test';
const CLIENT_TOKEN = 'billing-token-0123456789';
const ENV = { LEAF_RESP_PORT: '0', LEAF_ADMIN_TOKEN: ADMIN_TOKEN };

let server: TestServer;
const clients: RespClient[] = [];

async function start(env: NodeJS.ProcessEnv = {}): Promise<void> {
  server = await startTestServer({ ...ENV, ...env });
}

async function connect(): Promise<RespClient> {
  const client = await RespClient.to(server.server.respPort!);
  clients.push(client);
  return client;
}

async function createTag(settings: Record<string, unknown>): Promise<void> {
  expect((await admin(server.port, 'POST', '/api/tags', { step: 100, ...settings })).status).toBe(201);
}

async function countOf(command: string, status: number): Promise<number> {
  const line = new RegExp(`^leaf_resp_commands_total\\{command="${command}",status="${status}"\\} (\\d+)$`, 'm');
  return Number(line.exec(await freshMetrics(server.port))?.[1] ?? 0);
}

/** The integers among the replies, in their order. */
function integers(text: string): bigint[] {
  return [...text.matchAll(/^:(\d+)\r$/gm)].map(([, id = '']) => BigInt(id));
}

function isAscending(ids: readonly bigint[]): boolean {
  return ids.every((id, index) => index === 0 || id > ids[index - 1]!);
}

afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy();
  await server.stop();
});

describe('Commands', () => {
  beforeEach(() => start());

  const REPLIES: readonly (readonly [string, string | RegExp])[] = [
    ['PING', '+PONG\r\n'],
    ['ping hello', '$5\r\nhello\r\n'],
    ['Echo hello', '$5\r\nhello\r\n'],
    [`INCR ${TAG}`, ':1\r\n'],
    [`incrby ${TAG} 10`, ':11\r\n'],
    [`LEAF.NEXT ${TAG}`, '$2\r\n12\r\n'],
    [`LEAF.NEXT ${TAG} 2`, '*2\r\n$2\r\n13\r\n$2\r\n14\r\n'],
    [`LEAF.RANGE ${TAG} 1000`, '*1\r\n*2\r\n$2\r\n15\r\n$4\r\n1014\r\n'],
    ['LEAF.DECODE 1169786042799259000', /^\*10\r\n\$2\r\nid\r\n\$19\r\n1169786042799259000\r\n/],
    ['SELECT 0', '+OK\r\n'],
    ['SELECT 1', '-ERR DB index is out of range\r\n'],
    ['CLIENT ID', /^:\d+\r\n$/],
    ['CLIENT SETNAME me', '+OK\r\n'],
    ['CLIENT SETINFO LIB-NAME x', '+OK\r\n'],
    ['CLIENT NO-EVICT on', '+OK\r\n'],
    ['CLIENT GETNAME', '$-1\r\n'],
    ['CLIENT KILL x', '-ERR unknown subcommand of CLIENT\r\n'],
    ['COMMAND', '*0\r\n'],
    ['COMMAND COUNT', ':0\r\n'],
    ['COMMAND DOCS', '*0\r\n'],
    ['INFO', /redis_version:\d/],
    ['TIME', /^\*2\r\n\$10\r\n\d{10}\r\n\$\d\r\n/],
    ['AUTH any', '+OK\r\n'],
    ['RESET', '+RESET\r\n'],
    ['QUIT', '+OK\r\n'],
    [`GET ${TAG}`, /^-ERR GET is not supported: /],
    ['INCR', "-ERR wrong number of arguments for 'incr' command\r\n"],
    ['INCR a b', "-ERR wrong number of arguments for 'incr' command\r\n"],
    ['SET a b', "-ERR unknown command 'SET'\r\n"],
    ['constructor', "-ERR unknown command 'constructor'\r\n"],
    ['INCR none', /^-LEAF_TAG_NOT_FOUND .*\r\n$/],
    ['INCR ü', /^-LEAF_TAG_INVALID .*\r\n$/],
    [`INCRBY ${TAG} 0`, /^-LEAF_SIZE_INVALID .*\r\n$/],
    [`INCRBY ${TAG} -1`, /^-LEAF_SIZE_INVALID .*\r\n$/],
    [`INCRBY ${TAG} 1000001`, /^-LEAF_SIZE_INVALID .*\r\n$/],
    [`LEAF.NEXT ${TAG} 10001`, /^-LEAF_SIZE_INVALID .*\r\n$/],
    ['LEAF.DECODE x', /^-LEAF_ID_INVALID .*\r\n$/],
    ['HELLO 4', '-NOPROTO unsupported protocol version\r\n'],
    ['HELLO 3 SETNAME', '-ERR syntax error in HELLO\r\n'],
  ];

  it('are answered and counted by their names', async () => {
    const counts = new Map<string, number>();
    for (const [words, reply] of REPLIES) {
      const client = await connect();
      const lines = typeof reply === 'string' ? reply.split('\r\n').length - 1 : 1;
      const received = await client.call(words, lines);
      expect([words, received]).toEqual([words, typeof reply === 'string' ? reply : expect.stringMatching(reply)]);
      const name = words.split(' ')[0]!.toUpperCase();
      const status = !received.startsWith('-') ? 200 : received.includes('NOT_FOUND') ? 404 : 400;
      const key = `${received.includes('unknown command') ? 'unknown' : name} ${status}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const lines = (await freshMetrics(server.port)).matchAll(
      /^leaf_resp_commands_total\{command="(.+)",status="(\d+)"\} (\d+)$/gm,
    );
    const counted = [...lines].map(([, command, status, count]) => [`${command} ${status}`, Number(count)]);
    expect(counted.sort()).toEqual([...counts].sort());
  });

  it('HELLO 3 changes the types of replies, RESET and HELLO 2 change them back', async () => {
    const client = await connect();
    expect(await client.call('HELLO 3 AUTH user token SETNAME app', 17)).toMatch(/^%7\r\n\$6\r\nserver\r\n/);
    expect(await client.call('LEAF.DECODE 1', 14)).toMatch(/^%5\r\n/);
    expect(await client.call('CLIENT GETNAME', 2)).toBe('$3\r\napp\r\n');
    await client.call('RESET');
    expect(await client.call('LEAF.DECODE 1', 14)).toMatch(/^\*10\r\n/);
    expect(await client.call('CLIENT GETNAME')).toBe('$-1\r\n');
    await client.call('HELLO 3', 17);
    expect(await client.call('CLIENT GETNAME')).toBe('_\r\n');
    expect(await client.call('HELLO 2', 17)).toMatch(/^\*14\r\n/);
  });

  it('LEAF.SNOWFLAKE gives one ID or several, ascending', async () => {
    const client = await connect();
    const one = await client.call('LEAF.SNOWFLAKE', 2);
    const many = await client.call('LEAF.SNOWFLAKE 5000', 10_001);
    const ids = [one, many].flatMap((text) => [...text.matchAll(/^\d{15,}/gm)].map(([id]) => BigInt(id)));
    expect(ids).toHaveLength(5001);
    expect(isAscending(ids)).toBe(true);
  });

  it('LEAF.NUMBER gives each document its number, as text if the tag has a pattern', async () => {
    await createTag({ tag: 'receipt', order: 'gapless' });
    await createTag({ tag: 'invoice', order: 'gapless', reset: 'yearly', pattern: 'Nº{YYYY}-{seq:3}' });
    const client = await connect();
    expect(await client.call('LEAF.NUMBER receipt order-4711', 2)).toBe('$1\r\n1\r\n');
    expect(await client.call('LEAF.NUMBER receipt Aufträge', 2)).toBe('$1\r\n2\r\n');
    expect(await client.call('leaf.number receipt order-4711', 2)).toBe('$1\r\n1\r\n');
    const text = Buffer.from(`Nº${new Date().getUTCFullYear()}-001`).toString('latin1');
    expect(await client.call('LEAF.NUMBER invoice order-4711', 2)).toBe(`$${text.length}\r\n${text}\r\n`);
    const found = await call(server.port, `/api/numbers/receipt/${encodeURIComponent('Aufträge')}`);
    expect(JSON.parse(found.body)).toMatchObject({ number: '2', state: 'issued', issuedBy: 'anonymous' });
    for (const [words, code] of [
      [`LEAF.NUMBER ${TAG} a`, 'LEAF_TAG_NOT_GAPLESS'],
      ['LEAF.NUMBER none a', 'LEAF_TAG_NOT_FOUND'],
      ['LEAF.NUMBER receipt ~a', 'LEAF_REQUEST_INVALID'],
      ['INCR receipt', 'LEAF_TAG_GAPLESS'],
    ] as const) {
      expect([words, await client.call(words)]).toEqual([words, expect.stringMatching(`^-${code} `)]);
    }
    expect(await client.call('LEAF.NUMBER receipt')).toMatch(/^-ERR wrong number of arguments/);
    const latin1 = '*3\r\n$11\r\nLEAF.NUMBER\r\n$7\r\nreceipt\r\n$1\r\n\xe4\r\nQUIT\r\n';
    client.received = '';
    expect(await client.last(latin1)).toBe('-LEAF_REQUEST_INVALID The key must be encoded in UTF-8.\r\n+OK\r\n');
    expect(await countOf('LEAF.NUMBER', 200)).toBe(4);
  });

  it('INCRBY owns the IDs up to its answer, also where a segment ends', async () => {
    await createTag({ tag: 'small', step: 10 });
    const client = await connect();
    const owned: bigint[] = [];
    for (const size of [1, 7, 7, 25, 3, 1, 100, 9]) {
      const [last = 0n] = integers(await client.call(`INCRBY small ${size}`));
      for (let id = last - BigInt(size) + 1n; id <= last; id++) owned.push(id);
      owned.push(...integers(await client.call('INCR small')));
    }
    expect(isAscending(owned)).toBe(true);
    expect(new Set(owned).size).toBe(owned.length);
  });

  it('INCRBY owns the IDs up to its answer, also where another server took those behind a segment', async () => {
    await createTag({ tag: 'small', step: 10 });
    const client = await connect();
    const owned: bigint[] = [];
    for (let round = 0; round < 20; round++) {
      // Moves the row as an allocation of another server does.
      const { maxId } = JSON.parse((await admin(server.port, 'GET', '/api/tags/small')).body) as { maxId: string };
      const others = BigInt(maxId) + 10n;
      const moved = await admin(server.port, 'PATCH', '/api/tags/small', { maxId: String(others) });
      expect(moved.status).toBe(200);
      const [last = 0n] = integers(await client.call('INCRBY small 7'));
      for (let id = others - 10n; id < others; id++) owned.push(id);
      for (let id = last - 6n; id <= last; id++) owned.push(id);
    }
    expect(new Set(owned).size).toBe(owned.length);
  });

  it('replies keep the order of pipelined commands, whether or not they wait', async () => {
    await createTag({ tag: 'strict', order: 'strict' });
    await createTag({ tag: 'cold', step: 10 });
    const client = await connect();
    const each = `${encode('INCR', 'strict')}INCR cold\r\n${encode('ECHO', 'mark')}${encode('INCR', 'none')}`;
    client.socket.write(each.repeat(50));
    await until('all replies', () => client.received.split('\r\n').length > 250);
    const reply = /^:(\d+)\r\n:(\d+)\r\n\$4\r\nmark\r\n-LEAF_TAG_NOT_FOUND [^\r\n]+\r\n/;
    const pairs: bigint[][] = [];
    for (let rest = client.received; rest !== ''; rest = rest.slice(reply.exec(rest)![0].length)) {
      pairs.push(reply.exec(rest)!.slice(1, 3).map(BigInt));
    }
    expect(pairs).toEqual(pairs.map((_, index) => [BigInt(index + 1), BigInt(index + 1)]));
  });

  it('strict IDs ascend over connections: a later command gets a higher ID', async () => {
    await createTag({ tag: 'strict', order: 'strict' });
    const [one, other] = [await connect(), await connect()];
    const ids: bigint[] = [];
    for (let n = 0; n < 10; n++) {
      for (const client of [one, other]) ids.push(...integers(await client.call('INCRBY strict 3')));
    }
    expect(isAscending(ids)).toBe(true);
  });
});

describe('A connection', () => {
  it('ends after a fault of the protocol, the words of HTTP, and QUIT, and answers nothing behind them', async () => {
    await start();
    const behind = encode('INCR', TAG);
    expect(await (await connect()).last(`PING\r\n*x\r\n${behind}`)).toBe(
      '+PONG\r\n-ERR Protocol error: invalid multibulk length\r\n',
    );
    expect(await (await connect()).last(`POST / HTTP/1.1\r\nHost: leaf\r\n\r\n${behind}`)).toBe(
      "-ERR unknown command 'POST'\r\n",
    );
    expect(await (await connect()).last(`QUIT\r\n${behind}`)).toBe('+OK\r\n');
    expect(await countOf('INCR', 200)).toBe(0);
    expect(await countOf('invalid', 400)).toBe(1);
  });

  it('gets the replies to all commands before the client closed its side', async () => {
    await start();
    await createTag({ tag: 'strict', order: 'strict' });
    const client = await connect();
    client.socket.end('INCR strict\r\n'.repeat(20));
    await until('the end', () => client.closed);
    expect(integers(client.received)).toHaveLength(20);
  });

  it('that does not read is paced: later commands wait until it reads, and all get their replies', async () => {
    await start();
    const client = await connect();
    client.socket.pause();
    const commands = 100;
    client.socket.write(encode('LEAF.NEXT', TAG, '10000').repeat(commands));
    let before = -1;
    await until('a standstill', async () => {
      const now = await countOf('LEAF.NEXT', 200);
      await new Promise((resolve) => setTimeout(resolve, 300));
      const stands = now === before && now > 0;
      before = now;
      return stands;
    });
    expect(before).toBeLessThan(commands);
    client.socket.resume();
    const last = `\r\n${commands * 10_000}\r\n`;
    await until('all replies', () => client.received.endsWith(last));
    const ids = [...client.received.matchAll(/^(\d+)\r$/gm)].map(([, id]) => Number(id));
    expect(ids).toHaveLength(commands * 10_000);
    expect(ids.every((id, index) => index === 0 || id === ids[index - 1]! + 1)).toBe(true);
  });

  it('beyond the limit replaces an idle one', async () => {
    await start({ LEAF_MAX_CONNECTIONS: '2' });
    const [first, second] = [await connect(), await connect()];
    await first.call('PING');
    await second.call('PING');
    const third = await connect();
    expect(await third.call(`INCR ${TAG}`)).toBe(':1\r\n');
    await until('the end of an idle one', () => first.closed || second.closed);
    expect(first.closed && second.closed).toBe(false);
  });

  it('that reads nothing is replaced, and others get IDs from memory meanwhile', async () => {
    // A connection that stalls is closed 15 s after the longest wait.
    await start({ LEAF_MAX_CONNECTIONS: '2', LEAF_SEGMENT_WAIT_MS: '60000' });
    expect(await (await connect()).call(`INCR ${TAG}`)).toBe(':1\r\n');
    clients.splice(0).forEach(({ socket }) => socket.destroy());
    for (let n = 0; n < 2; n++) {
      const { socket } = await connect();
      socket.write(encode('LEAF.SNOWFLAKE', '10000').repeat(200));
      await once(socket, 'data');
      socket.pause();
    }
    const third = await connect();
    expect(await third.call(`INCR ${TAG}`)).toBe(':2\r\n');
    await until('a place for another one', async () => {
      const next = await connect();
      const reply = await next.call('LEAF.SNOWFLAKE 1001');
      next.socket.destroy();
      return reply.startsWith('*1001');
    });
  });

  it('is served while the server drains, and ends after its replies', async () => {
    await start();
    const client = await connect();
    expect((await admin(server.port, 'POST', '/api/server/drain')).status).toBe(200);
    expect(await client.last(encode('INCR', TAG).repeat(3))).toBe(':1\r\n:2\r\n:3\r\n');
  });

  it('gets the reply to a command in progress when the server stops', async () => {
    await start();
    await createTag({ tag: 'strict', order: 'strict' });
    const [client, idle] = [await connect(), await connect()];
    await idle.call('PING');
    client.socket.write(encode('INCR', 'strict').repeat(5));
    await until('a reply', () => client.received !== '');
    await server.server.close({ drain: false });
    await until('the end', () => client.closed && idle.closed);
    expect(integers(client.received)).toEqual([1n, 2n, 3n, 4n, 5n]);
  });

  it('has a line for each command in the access log', async () => {
    const log = new LogLines();
    await start({ LEAF_ACCESS_LOG: 'all', LEAF_LOG_LEVEL: 'info', LEAF_LOG_FORMAT: 'json' });
    const client = await connect();
    await client.call(`INCR ${TAG}`);
    await client.call('INCR none');
    log.end();
    const lines = log.entries.filter(({ context }) => context === 'Access');
    const common = { message: 'Request', method: 'RESP', route: 'INCR', address: '127.0.0.1' };
    expect(lines).toMatchObject([
      { ...common, status: 200, ms: expect.any(Number) },
      { ...common, status: 404, ms: expect.any(Number) },
    ]);
  });
});

describe('With client tokens', () => {
  const TOKENS = {
    LEAF_CLIENT_TOKENS: `billing:${CLIENT_TOKEN}`,
    LEAF_CLIENT_QUOTAS: '{"billing":{"tags":["strict"],"idsPerSecond":10}}',
  };

  it('commands that issue IDs need AUTH with a client or admin token, and no other command does', async () => {
    await start(TOKENS);
    await createTag({ tag: 'strict', order: 'strict' });
    const client = await connect();
    for (const words of [
      'INCR strict',
      'INCRBY strict 2',
      'LEAF.NEXT strict',
      'LEAF.RANGE strict 2',
      'LEAF.SNOWFLAKE',
    ]) {
      expect(await client.call(words)).toMatch(/^-LEAF_UNAUTHORIZED /);
    }
    expect(await client.call('PING')).toBe('+PONG\r\n');
    expect(await client.call(`AUTH ${CLIENT_TOKEN}`)).toBe('+OK\r\n');
    expect(await client.call('INCR strict')).toBe(':1\r\n');
    expect(await client.call(`INCR ${TAG}`)).toMatch(/^-LEAF_FORBIDDEN /);
    expect(await client.call('INCRBY strict 100')).toBe(':101\r\n');
    expect(await client.call('INCR strict')).toMatch(
      /^-LEAF_QUOTA_EXCEEDED .* grants the next ID in (\d+) ms\. \(retry after \1 ms\)\r\n$/,
    );
    await client.call('RESET');
    expect(await client.call('INCR strict')).toMatch(/^-LEAF_UNAUTHORIZED /);
    await client.call(`HELLO 3 AUTH default ${ADMIN_TOKEN}`, 17);
    expect(await client.call(`INCR ${TAG}`)).toBe(':1\r\n');
  });

  it('a blocked client is refused, and ten wrong tokens limit its address', async () => {
    await start(TOKENS);
    await createTag({ tag: 'strict', order: 'strict' });
    const client = await connect();
    await client.call(`AUTH ${CLIENT_TOKEN}`);
    await admin(server.port, 'POST', '/api/server/clients/billing/block');
    expect(await client.call('INCR strict')).toMatch(/^-LEAF_FORBIDDEN /);
    expect(await client.call(`AUTH ${CLIENT_TOKEN}`)).toMatch(/^-LEAF_FORBIDDEN /);
    await admin(server.port, 'DELETE', '/api/server/clients/billing/block');
    expect(await client.call('INCR strict')).toBe(':1\r\n');
    for (let n = 0; n < 10; n++) expect(await client.call('AUTH wrong')).toMatch(/^-LEAF_UNAUTHORIZED /);
    expect(await client.call('AUTH wrong')).toMatch(/^-LEAF_TOO_MANY_FAILURES .* \(retry after \d+ ms\)\r\n$/);
    expect(await client.call(`AUTH ${CLIENT_TOKEN}`)).toBe('+OK\r\n');
  });

  it('a change of the token file ends the access of the connections whose token it removes, and of no other', async () => {
    const directory = await makeDataDirectory();
    try {
      const file = join(directory, 'client-tokens');
      const [shop, later] = ['shop-token-0123456789', 'later-token-0123456789'];
      await writeFile(file, `billing:${CLIENT_TOKEN},shop:${shop}`);
      await start({ LEAF_CLIENT_TOKENS_FILE: file });
      const [kept, removed, newcomer] = [await connect(), await connect(), await connect()];
      await kept.call(`AUTH ${CLIENT_TOKEN}`);
      await removed.call(`AUTH ${shop}`);
      expect([await kept.call(`INCR ${TAG}`), await removed.call(`INCR ${TAG}`)]).toEqual([':1\r\n', ':2\r\n']);
      await writeFile(file, `later:${later},billing:${CLIENT_TOKEN}@2999-12-31\n\n`);
      await until('the new token is valid', async () => (await newcomer.call(`AUTH ${later}`)) === '+OK\r\n');
      expect(await removed.call(`INCR ${TAG}`)).toMatch(/^-LEAF_UNAUTHORIZED /);
      expect(await kept.call(`INCR ${TAG}`)).toBe(':3\r\n');
    } finally {
      await removeDataDirectory(directory);
    }
  });

  it('LEAF.NUMBER needs a token of the tag, takes one ID of its quota, and puts its name in the journal', async () => {
    await start({ ...TOKENS, LEAF_CLIENT_QUOTAS: '{"billing":{"tags":["receipt"],"idsPerSecond":1}}' });
    for (const tag of ['receipt', 'other']) await createTag({ tag, order: 'gapless' });
    const client = await connect();
    expect(await client.call('LEAF.NUMBER receipt a')).toMatch(/^-LEAF_UNAUTHORIZED /);
    await client.call(`AUTH ${CLIENT_TOKEN}`);
    expect(await client.call('LEAF.NUMBER other a')).toMatch(/^-LEAF_FORBIDDEN /);
    expect(await client.call('LEAF.NUMBER receipt ~a')).toMatch(/^-LEAF_REQUEST_INVALID /);
    const begun = performance.now();
    expect(await client.call('LEAF.NUMBER receipt a', 2)).toBe('$1\r\n1\r\n');
    // One more for each second that has passed.
    let more = 0;
    await until('the end of the quota', async () => {
      const answer = await client.call(`LEAF.NUMBER receipt b${more}`);
      if (answer.startsWith('-LEAF_QUOTA_EXCEEDED ')) return true;
      more++;
      return false;
    });
    expect(more).toBeLessThanOrEqual(Math.floor((performance.now() - begun) / 1000));
    await client.call(`AUTH ${ADMIN_TOKEN}`);
    expect(await client.call('LEAF.NUMBER receipt c', 2)).toBe(`$1\r\n${2 + more}\r\n`);
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const found = await call(server.port, '/api/numbers/receipt', { headers });
    const listed = JSON.parse(found.body) as unknown[];
    expect([listed[0], listed.at(-1)]).toMatchObject([
      { key: 'a', issuedBy: 'billing' },
      { key: 'c', issuedBy: 'admin' },
    ]);
    expect(listed).toHaveLength(2 + more);
  });

  it('LEAF.NUMBER is refused where segment mode is off', async () => {
    await start({ LEAF_SEGMENT_ENABLED: 'false', LEAF_SNOWFLAKE_REGISTRY: 'local' });
    expect(await (await connect()).call('LEAF.NUMBER receipt a')).toMatch(/^-LEAF_SEGMENT_DISABLED /);
  });

  it('a failed command is not charged', async () => {
    await start({ ...TOKENS, LEAF_CLIENT_QUOTAS: '{"billing":{"idsPerSecond":1}}' });
    const client = await connect();
    await client.call(`AUTH ${CLIENT_TOKEN}`);
    for (let n = 0; n < 5; n++) expect(await client.call('INCR none')).toMatch(/^-LEAF_TAG_NOT_FOUND /);
    expect(await client.call(`INCR ${TAG}`)).toBe(':1\r\n');
  });
});
