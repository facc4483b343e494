import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { LeafError } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { Leaf } from '@leaf-ids/id';
import { ClientAccess } from '../clients/client-access';
import { OverloadCounts } from '../http/overload/refusals';
import { RequestCounts } from '../http/request-counts';
import { AdminTokens, TokenSet } from '../tokens/token-set';
import { CommandTable, ConnectionState, type Reply } from './command-table';
import { connectionCommands } from './connection-commands';
import { idCommands } from './id-commands';

const [BILLING, SHOP] = ['billing-token-0123456789', 'shop-tökén-0123456789'];
/** As its bytes arrive. */
const SHOP_WORD = Buffer.from(SHOP).toString('latin1');
const MAX_IN_FLIGHT = 2;
const UNAUTHORIZED = expect.stringMatching(
  /^-LEAF_UNAUTHORIZED Taking IDs requires the command "AUTH <token>"/,
) as string;
const OVERLOADED =
  '-LEAF_OVERLOADED This server is overloaded. Use another server, or retry later. (retry after 1000 ms)\r\n';
const EVERY_TAKE: string[][] = [
  ['INCR', 'order'],
  ['INCRBY', 'order', '2'],
  ['LEAF.NEXT', 'order'],
  ['LEAF.NEXT', 'order', '2'],
  ['LEAF.RANGE', 'order', '2'],
  ['LEAF.NUMBER', 'invoice', 'key'],
  ['LEAF.SNOWFLAKE'],
  ['LEAF.SNOWFLAKE', '2'],
];

let leaf: Leaf;
let clock: FakeClock;
let access: ClientAccess;
let overload: OverloadCounts;
let counts: RequestCounts;
let table: CommandTable;
let state: ConnectionState;

beforeEach(async () => {
  Logger.overrideLogger(false);
  leaf = await Leaf.start({
    database: 'sqlite::memory:',
    snowflake: {},
    tags: [
      { tag: 'order', step: 10_000 },
      { tag: 'invoice', step: 1, order: 'gapless' },
    ],
  });
  clock = new FakeClock();
  open(true);
});
afterEach(() => leaf.stop());

function open(enabled: boolean): void {
  const tokens = [
    { name: 'billing', token: BILLING },
    { name: 'shop', token: SHOP },
  ];
  const rules = { billing: { tags: ['*'] }, shop: { tags: ['order', 'snowflake', 'invoice'], idsPerSecond: 100 } };
  const [clients, admins] = [new TokenSet(tokens, clock), new AdminTokens([], clock)];
  access = new ClientAccess({ enabled, rules, clients, admins }, clock);
  [overload, counts] = [new OverloadCounts(), new RequestCounts(clock)];
  const parts = { ids: leaf.ids, leaf, clients: access, overload, maxInFlight: MAX_IN_FLIGHT };
  table = new CommandTable({ ...connectionCommands({ clients: access, clock }), ...idCommands(parts) }, counts);
  state = connection();
}
const connection = (surplus = false): ConnectionState => new ConnectionState(7, '10.0.0.7', surplus);

/** The parts of the reply. */
async function partsOf(words: readonly string[], from = state): Promise<string[]> {
  const { reply } = await table.run(words, from);
  return typeof reply === 'string' ? [reply] : all(reply);
}
function all(reply: Exclude<Reply, string>): string[] {
  const parts: string[] = [];
  for (let next = reply.next(); next.done !== true; next = reply.next()) parts.push(next.value);
  return parts;
}
const send = async (...words: string[]): Promise<string> => (await partsOf(words)).join('');
const refusals = (): Record<string, number> => Object.fromEntries([...overload.all()].filter(([, count]) => count > 0));
const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`;

describe('a connection', () => {
  it.each(EVERY_TAKE)('takes nothing with %s without a token', async (...words) => {
    expect(await send(...words)).toEqual(UNAUTHORIZED);
    expect(state.access).toBeUndefined();
    expect(await leaf.ids.nextId('order')).toBe(1n);
  });

  it.each([
    ['AUTH', SHOP_WORD],
    ['AUTH', 'anybody', SHOP_WORD],
  ])('takes IDs after %s', async (...words) => {
    expect(await send(...words)).toBe('+OK\r\n');
    expect(await send('INCR', 'order')).toBe(':1\r\n');
    expect(await send('INCR', 'other')).toMatch(/^-LEAF_FORBIDDEN /);
    expect(await send('LEAF.NUMBER', 'other', 'key')).toMatch(/^-LEAF_FORBIDDEN /);
    expect(await send('RESET')).toBe('+RESET\r\n');
    expect(await send('INCR', 'order')).toEqual(UNAUTHORIZED);
  });

  it.each([
    [['AUTH', 'wrong']],
    [['AUTH', SHOP_WORD, 'wrong']],
    [['HELLO', '3', 'SETNAME', 'me', 'AUTH', 'x', 'wrong']],
  ])('takes none after %j, and keeps its protocol', async (words) => {
    expect(await send(...words)).toEqual(UNAUTHORIZED);
    expect([state.access, state.name, state.version]).toEqual([undefined, '', 2]);
    expect(await send('INCR', 'order')).toEqual(UNAUTHORIZED);
  });

  it('may send its token in HELLO', async () => {
    const items = `${bulk('version')}${bulk('7.0.0')}${bulk('proto')}:3\r\n${bulk('id')}:7\r\n`;
    const rest = `${bulk('mode')}${bulk('standalone')}${bulk('role')}${bulk('master')}${bulk('modules')}*0\r\n`;
    const reply = `${bulk('server')}${bulk('leaf')}${items}${rest}`;
    expect(await send('HELLO', '3', 'auth', 'x', BILLING, 'setname', 'me')).toBe(`%7\r\n${reply}`);
    expect(state).toMatchObject({ name: 'me', version: 3, access: { client: { name: 'billing' } } });
    expect(await send('CLIENT', 'getname')).toBe(bulk('me'));
    expect(await send('HELLO')).toBe(`%7\r\n${reply}`);
    expect(await send('HELLO', '2')).toBe(`*14\r\n${reply.replace(':3', ':2')}`);
    expect(await send('INCR', 'order')).toBe(':1\r\n');
    await send('HELLO', '3', 'SETNAME', '');
    expect(await send('CLIENT', 'GETNAME')).toBe('_\r\n');
  });

  it.each([
    [['HELLO', '4'], '-NOPROTO unsupported protocol version\r\n'],
    [['HELLO', '3', 'AUTH', 'x'], '-ERR syntax error in HELLO\r\n'],
    [['HELLO', '3', 'SETNAME'], '-ERR syntax error in HELLO\r\n'],
    [['HELLO', '3', 'NAME', 'me', 'x'], '-ERR syntax error in HELLO\r\n'],
  ])('is told that %j is wrong', async (words, reply) => {
    expect(await send(...words)).toBe(reply);
    expect(state.version).toBe(2);
  });

  it('needs no token where nobody does', async () => {
    open(false);
    expect(await send('AUTH', 'any')).toBe('+OK\r\n');
    expect(state.access).toBeUndefined();
    expect(await send('INCR', 'order')).toBe(':1\r\n');
    expect(await send('LEAF.NUMBER', 'invoice', 'key')).toBe(bulk('1'));
    expect(await leaf.numbers?.find('invoice', 'key')).toMatchObject({ issuedBy: 'anonymous' });
  });

  it.each([
    [['PING'], '+PONG\r\n'],
    [['ping', 'hello'], bulk('hello')],
    [['Ping'], '+PONG\r\n'],
    [['INFO'], expect.stringMatching(/\r\nredis_version:7\.0\.0\r\n[^]*\r\nrole:master\r\n/) as string],
    [['GET', 'order'], expect.stringMatching(/^-ERR GET is not supported: INCR takes the next ID/) as string],
    [['ECHO', 'hello'], bulk('hello')],
    [['SELECT', '0'], '+OK\r\n'],
    [['SELECT', '1'], '-ERR DB index is out of range\r\n'],
    [['CLIENT', 'ID'], ':7\r\n'],
    [['CLIENT', 'GETNAME'], '$-1\r\n'],
    [['CLIENT', 'SETNAME', 'me'], '+OK\r\n'],
    [['CLIENT', 'SETNAME'], '+OK\r\n'],
    [['CLIENT', 'SETINFO', 'LIB-NAME', 'x'], '+OK\r\n'],
    [['CLIENT', 'NO-EVICT', 'on'], '+OK\r\n'],
    [['CLIENT', 'NO-TOUCH', 'on'], '+OK\r\n'],
    [['CLIENT', 'KILL', 'x'], '-ERR unknown subcommand of CLIENT\r\n'],
    [['COMMAND'], '*0\r\n'],
    [['COMMAND', 'count'], ':0\r\n'],
    [['QUIT'], '+OK\r\n'],
    [['INCR'], "-ERR wrong number of arguments for 'incr' command\r\n"],
    [['INCR', 'a', 'b'], "-ERR wrong number of arguments for 'incr' command\r\n"],
    [['GÉT\n', 'x'], "-ERR unknown command 'G?T?'\r\n"],
    [['x'.repeat(41)], `-ERR unknown command '${'x'.repeat(40)}'\r\n`],
    [[], "-ERR unknown command ''\r\n"],
  ])('gets to %j the reply %j', async (words, reply) => {
    expect(await send(...words)).toEqual(reply);
    expect(state.ending).toBe(words[0] === 'QUIT');
  });

  it('has the name that its client gave it last', async () => {
    for (const name of ['me', 'you']) {
      await send('CLIENT', 'SETNAME', name);
      expect(await send('CLIENT', 'GETNAME')).toBe(bulk(name));
    }
  });

  it.each(['POST', 'host:'])('ends at the word %s of HTTP', async (word) => {
    expect(await send(word)).toMatch(/^-ERR unknown command/);
    expect(state.ending).toBe(true);
  });

  it('gets the time in seconds and microseconds', async () => {
    await clock.advance(1234 - (clock.now() % 1000));
    const seconds = Math.floor(clock.now() / 1000);
    expect(await send('TIME')).toBe(`*2\r\n${bulk(String(seconds))}${bulk('234000')}`);
  });
});

describe('commands that take IDs', () => {
  beforeEach(() => send('AUTH', BILLING));

  it('take each ID once, in the order of their tag', async () => {
    expect(await send('INCR', 'order')).toBe(':1\r\n');
    expect(await send('INCRBY', 'order', '10')).toBe(':11\r\n');
    expect(await send('LEAF.NEXT', 'order')).toBe(bulk('12'));
    expect(await send('LEAF.NEXT', 'order', '2')).toBe(`*2\r\n${bulk('13')}${bulk('14')}`);
    expect(await send('LEAF.RANGE', 'order', '3')).toBe(`*1\r\n*2\r\n${bulk('15')}${bulk('17')}`);
    expect(await send('INCR', 'order')).toBe(':18\r\n');
    const { count } = await table.run(['incr', 'order'], state);
    expect([count.route, count.status, count.protocol]).toEqual(['INCR', 200, 'resp']);
  });

  it.each([249, 250, 251, 500, 501, 1200])('return %d IDs, a long list in parts', async (size) => {
    for (const words of [
      ['LEAF.NEXT', 'order', String(size)],
      ['LEAF.SNOWFLAKE', String(size)],
    ]) {
      const parts = await partsOf(words);
      const text = parts.join('');
      expect(text.startsWith(`*${size}\r\n$`)).toBe(true);
      const ids = text.split('\r\n').filter((line) => /^\d/.test(line));
      expect(text).toBe(`*${size}\r\n${ids.map(bulk).join('')}`);
      expect(new Set(ids).size).toBe(size);
      // The last part is empty when the one before is full.
      expect(parts).toHaveLength(size <= 250 ? 1 : Math.floor(size / 250) + 1);
    }
  });

  it('refuse sizes that are none', async () => {
    for (const size of ['0', '-1', 'x', '1.5']) {
      expect(await send('INCRBY', 'order', size)).toMatch(/^-LEAF_SIZE_INVALID /);
      expect(await send('LEAF.SNOWFLAKE', size)).toMatch(/^-LEAF_SIZE_INVALID /);
    }
  });

  it('take a snowflake ID, and take it apart', async () => {
    const replies = [await send('LEAF.SNOWFLAKE'), await send('LEAF.SNOWFLAKE', '1')];
    const ids = replies.map((reply) => /\d{10,}/.exec(reply)?.[0]);
    expect(replies).toEqual([bulk(ids[0]!), `*1\r\n${bulk(ids[1]!)}`]);
    expect(BigInt(ids[0]!)).toBeLessThan(BigInt(ids[1]!));
    const { timestamp, sequence, ...place } = leaf.ids.decode(BigInt(ids[0]!));
    const fields = [
      bulk('id') + bulk(ids[0]!),
      `${bulk('timestamp')}:${timestamp}\r\n`,
      bulk('time') + bulk(new Date(timestamp).toISOString()),
      ...Object.entries(place).map(([name, value]) => `${bulk(name)}:${value}\r\n`),
      `${bulk('sequence')}:${sequence}\r\n`,
    ];
    expect(await send('LEAF.DECODE', ids[0]!)).toBe(`*${2 * fields.length}\r\n${fields.join('')}`);
    state.version = 3;
    expect(await send('LEAF.DECODE', ids[0]!)).toBe(`%${fields.length}\r\n${fields.join('')}`);
  });

  it('give a document one number, for the client of the token', async () => {
    const key = Buffer.from('Größe').toString('latin1');
    expect([await send('LEAF.NUMBER', 'invoice', key), await send('LEAF.NUMBER', 'invoice', key)]).toEqual([
      bulk('1'),
      bulk('1'),
    ]);
    expect(await send('LEAF.NUMBER', 'invoice', 'other')).toBe(bulk('2'));
    expect(await leaf.numbers?.find('invoice', 'Größe')).toMatchObject({ number: 1n, issuedBy: 'billing' });
    expect(await send('LEAF.NUMBER', 'invoice', '\xff')).toBe(
      '-LEAF_REQUEST_INVALID The key must be encoded in UTF-8.\r\n',
    );
  });

  it('charge the quota, and give back what was refused', async () => {
    await send('AUTH', SHOP_WORD);
    expect(await send('INCRBY', 'order', '6001')).toMatch(/^-LEAF_QUOTA_EXCEEDED .*at most 6000 IDs/);
    expect(await send('INCRBY', 'order', '101')).toMatch(/^:/);
    expect(await send('INCR', 'order')).toMatch(/ the next ID in (\d+) ms\. \(retry after \1 ms\)\r\n$/);
    await clock.advance(60_000);
    await leaf.stop();
    for (let n = 0; n < 5; n++) expect(await send('INCRBY', 'order', '6000')).toMatch(/^-LEAF_(?!QUOTA)/);
  });

  it('wait up to a limit, beside the requests of HTTP', async () => {
    overload.inFlight = MAX_IN_FLIGHT;
    await send('AUTH', SHOP_WORD);
    // Nothing is in memory yet.
    for (let n = 0; n < 3; n++) expect(await send('INCRBY', 'order', '100')).toBe(OVERLOADED);
    expect(refusals()).toEqual({ in_flight: 3 });
    overload.inFlight = MAX_IN_FLIGHT - 1;
    const waiting = send('INCR', 'order');
    expect(overload.inFlight).toBe(MAX_IN_FLIGHT);
    expect(await waiting).toBe(':1\r\n');
    expect(overload.inFlight).toBe(MAX_IN_FLIGHT - 1);
  });

  it.each(EVERY_TAKE)('wait for the first IDs: %s', async (...words) => {
    expect(await send(...words)).toMatch(/^[$*:]/);
  });

  it('wait for more snowflake IDs than the clock has', async () => {
    const replies = [send('LEAF.SNOWFLAKE', '10000'), send('LEAF.SNOWFLAKE')];
    const ids = (await Promise.all(replies)).flatMap((reply) => reply.match(/^\d{10,}/gm) ?? []);
    expect(new Set(ids).size).toBe(10_001);
  });

  it.each(EVERY_TAKE.filter(([name]) => name !== 'LEAF.NUMBER'))(
    'take IDs from memory alone on a connection beyond the limit: %s',
    async (...words) => {
      const surplus = connection(true);
      surplus.access = state.access;
      if (words[1] === 'order') expect((await partsOf(words, surplus)).join('')).toBe(OVERLOADED);
      await send('INCR', 'order');
      await send('LEAF.SNOWFLAKE');
      expect((await partsOf(words, surplus)).join('')).toMatch(/^[$*:]/);
    },
  );

  it('take few IDs on a connection beyond the limit', async () => {
    const surplus = connection(true);
    surplus.access = state.access;
    const take = (size: number): Promise<string[]> => partsOf(['INCRBY', 'order', String(size)], surplus);
    await send('INCR', 'order');
    expect(await take(1001)).toEqual([OVERLOADED]);
    expect(refusals()).toEqual({ connections: 1 });
    expect(await take(1000)).toEqual([':1001\r\n']);
  });
});

describe('errors of commands', () => {
  const run = (act: () => Reply | Promise<Reply>): Promise<{ status: number; reply: Reply }> => {
    const failing = new CommandTable({ ACT: { minimum: 0, maximum: 0, run: act } }, counts);
    return Promise.resolve(failing.run(['act'], state)).then(({ count, reply }) => ({ status: count.status, reply }));
  };
  const HIDDEN = { status: 500, reply: '-LEAF_INTERNAL Internal server error. See the log of the server.\r\n' };

  it.each<[string, () => Reply | Promise<Reply>, object]>([
    ['thrown', () => fail(new Error('secret')), HIDDEN],
    [
      'thrown with lines',
      () => fail(new LeafError('LEAF_TAG_INVALID', 'a\r\n\r\nb')),
      { status: 400, reply: '-LEAF_TAG_INVALID a b\r\n' },
    ],
    ['thrown, and no error', () => fail('secret'), HIDDEN],
    ['rejected', () => Promise.reject(new Error('secret')), HIDDEN],
    ['replied', () => '-ERR no\r\n', { status: 400, reply: '-ERR no\r\n' }],
    ['replied later', () => Promise.resolve('-ERR no\r\n'), { status: 400, reply: '-ERR no\r\n' }],
    ['none', () => '+OK\r\n', { status: 200, reply: '+OK\r\n' }],
  ])('%s', async (_, act, outcome) => {
    expect(await run(act)).toEqual(outcome);
  });

  it('in the bytes', () => {
    const { count, reply } = table.fault("expected '$'");
    expect([count.route, count.status, reply]).toEqual(['invalid', 400, "-ERR Protocol error: expected '$'\r\n"]);
  });

  function fail(thrown: unknown): never {
    throw thrown;
  }
});
