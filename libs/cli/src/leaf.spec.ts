import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leaf } from '../../../test/support/leaf-command';
import { numberOptionsOf, tokenOf, workersOf } from './options';

const COMMANDS = ['next', 'snowflake', 'range', 'decode', 'tags', 'numbers', 'check'];

describe('the usage', () => {
  it('names every command, and the variables', async () => {
    const { code, out, err } = await leaf(['--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^Usage: leaf /);
    for (const command of COMMANDS) expect(out).toMatch(new RegExp(`^  ${command} `, 'm'));
    for (const variable of ['LEAF_URL', 'LEAF_DATABASE_URL', 'LEAF_TOKEN', 'LEAF_TOKEN_FILE']) {
      expect(out).toContain(variable);
    }
  });

  it.each(COMMANDS)('of %s has the options of every command', async (command) => {
    const { code, out } = await leaf([command, '--help']);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^Usage: leaf ${command} `));
    for (const option of ['--url', '--database', '--json']) expect(out).toContain(option);
  });

  it.each(['-v', '--version'])('%s is the version', async (option) => {
    expect(await leaf([option])).toEqual({ code: 0, out: '1.2.3\n', err: '' });
  });

  it('is an error without a command', async () => {
    const { code, out, err } = await leaf([]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^Usage: leaf /);
  });
});

it.each<[string[], string]>([
  [['nxt'], "unknown command 'nxt' (Did you mean next?)"],
  [['next'], "missing required argument 'tag'"],
  [['next', 'order', '5'], 'too many arguments'],
  [['next', 'order', '--token', 'secret'], "unknown option '--token'"],
  [['next', 'order', '-n', '0'], 'Use a whole number from 1 to 10000'],
  [['next', 'order', '-n', '10001'], 'Use a whole number from 1 to 10000'],
  [['next', 'order', '-n', '1e3'], 'Use a whole number from 1 to 10000'],
  [['snowflake', '-n', 'x'], 'Use a whole number from 1 to 10000'],
  [['snowflake', '--workers', '96-127'], '--workers needs --database or LEAF_DATABASE_URL'],
  [['snowflake', '--workers', '96-127', '--url', 'http://a'], '--workers needs --database or LEAF_DATABASE_URL'],
  [['range', 'order'], "required option '-n, --count <n>' not specified"],
  [['range', 'order', '-n', '1000001'], 'Use a whole number from 1 to 1000000'],
  [['decode', '-1'], 'Use a whole number from 0 to 9223372036854775807'],
  [['decode', '9223372036854775808'], 'Use a whole number from 0 to 9223372036854775807'],
  [['tags', 'nope'], "unknown command 'nope'"],
  [['tags', 'list', 'nope'], 'too many arguments'],
  [['tags', 'list', '--limit', '1001'], 'Use a whole number from 1 to 1000'],
  [['tags', 'create', 'x', '--order', 'loose'], 'Allowed choices are relaxed, strict, gapless'],
  [['numbers', 'nope'], "unknown command 'nope'"],
  [['numbers', 'issue', 'invoice'], "missing required argument 'keys'"],
  [['numbers', 'issue', 'invoice', 'a', '--at', '2026-02-30T10:00:00Z'], 'Use an RFC 3339 time with Z or an offset'],
  [['numbers', 'void', 'invoice', 'a'], "required option '--reason <text>' not specified"],
  [['numbers', 'list', 'invoice', '--state', 'open'], 'Allowed choices are issued, confirmed, void, reissued'],
  [['numbers', 'continue', 'invoice', '--reason', 'x'], "required option '--last <n>' not specified"],
  [['numbers', 'continue', 'invoice', '--reason', 'x', '--last', '-1'], 'Use a whole number from 0 to'],
  [['check', '--timeout', '0'], 'Use a whole number from 1 to 600000'],
  [['check', '--url', 'leaf:8080'], 'Use an http or https URL'],
  [['check', '--url', 'http://a', '--database', 'sqlite:a'], '--url and --database exclude each other'],
])('refuses %j with exit code 2', async (args, message) => {
  const { code, out, err } = await leaf(args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(/^leaf: [^\n]+\. leaf --help shows the usage\.\n$/);
  expect(err).toContain(message);
});

it('refuses an invalid URL in a variable', async () => {
  const { code, err } = await leaf(['check'], { LEAF_URL: 'leaf' });
  expect(code).toBe(2);
  expect(err).toContain('LEAF_URL is invalid. Use an http or https URL');
});

describe('leaf decode without a server', () => {
  const parts = {
    id: '1169786042799259000',
    timestamp: 1567733700834,
    time: '2019-09-06T01:35:00.834Z',
    workerId: 39,
    sequence: 3448,
  };

  it('uses the default layout', async () => {
    const { code, out, err } = await leaf(['decode', parts.id, '--json'], { LEAF_URL: '' });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toEqual(parts);
    const { out: text } = await leaf(['decode', parts.id]);
    expect(text).toMatch(/^time {7}2019-09-06T01:35:00\.834Z\nworkerId {3}39\n/m);
  });
});

describe('the token', () => {
  let directory: string;

  beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), 'leaf-cli-'))));
  afterAll(() => rm(directory, { recursive: true }));

  const options = { timeout: 1000 };

  it('comes from a file or a variable, the option first', () => {
    const file = join(directory, 'token');
    writeFileSync(file, 'of-the-file\n');
    expect(tokenOf(options, {})).toBeUndefined();
    expect(tokenOf(options, { LEAF_TOKEN: '', LEAF_TOKEN_FILE: '' })).toBeUndefined();
    expect(tokenOf(options, { LEAF_TOKEN: 'of-the-variable', LEAF_TOKEN_FILE: file })).toBe('of-the-variable');
    expect(tokenOf(options, { LEAF_TOKEN_FILE: file })).toBe('of-the-file');
    expect(tokenOf({ ...options, tokenFile: file }, { LEAF_TOKEN: 'of-the-variable' })).toBe('of-the-file');
  });

  it('names a file that cannot be read', async () => {
    const file = join(directory, 'missing');
    const { code, out, err } = await leaf(['tags', '--token-file', file]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^leaf: The token file cannot be read: .+missing.+ \(LEAF_CONFIG_INVALID\)\n$/);
  });
});

describe('the key of the journals', () => {
  it('takes worker IDs of the range of the servers', () => {
    expect(workersOf(undefined, {})).toBeUndefined();
    expect(workersOf(undefined, { LEAF_SNOWFLAKE_WORKERS: '0-31' })).toBe('0-31');
    expect(workersOf('96-127', { LEAF_SNOWFLAKE_WORKERS: '0-31', LEAF_SNOWFLAKE_DATACENTER: '0' })).toBe('96-127');
    expect(() => workersOf(undefined, { LEAF_SNOWFLAKE_DATACENTER: '3' })).toThrow('name its worker IDs');
    // Without a limit, the command could take a worker ID of another region.
    expect(() => workersOf('', {})).toThrow('--workers is empty');
    expect(() => workersOf(undefined, { LEAF_SNOWFLAKE_WORKERS: '' })).toThrow('LEAF_SNOWFLAKE_WORKERS is empty');
    expect(() => workersOf(undefined, { LEAF_SNOWFLAKE_DATACENTER: '' })).toThrow('LEAF_SNOWFLAKE_DATACENTER is empty');
    expect(workersOf('96-127', { LEAF_SNOWFLAKE_WORKERS: '' })).toBe('96-127');
  });

  it('comes from a variable or its file, and is long enough', () => {
    expect(numberOptionsOf({})).toEqual({ sync: false });
    const key = 'a-key-of-16-characters';
    expect(numberOptionsOf({ LEAF_NUMBERS_KEY: key, LEAF_NUMBERS_SYNC: 'true' })).toEqual({ key, sync: true });
    expect(() => numberOptionsOf({ LEAF_NUMBERS_KEY: 'short' })).toThrow('at least 16 characters');
    expect(() => numberOptionsOf({ LEAF_NUMBERS_KEY_FILE: '/nowhere/key' })).toThrow(
      /^The key file cannot be read: .*Correct LEAF_NUMBERS_KEY_FILE\.$/,
    );
  });
});

describe('with --json, an error', () => {
  it.each<[string[], string]>([
    [['next', '--json'], "missing required argument 'tag'. leaf --help shows the usage."],
    [['--json', 'nxt'], "unknown command 'nxt' (Did you mean next?). leaf --help shows the usage."],
    [['--json', 'check', '--url', 'http://a', '--database', 'sqlite:a'], 'exclude each other'],
    [['--json', 'x\u009b[2J'], "unknown command 'x\u009b[2J'"],
    [['--json'], 'a command is missing. leaf --help shows the usage.'],
  ])('of the usage is one value: %j', async (args, message) => {
    const { code, out, err } = await leaf(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^\P{Cc}+\n$/u);
    expect(JSON.parse(err)).toEqual({
      code: 'LEAF_REQUEST_INVALID',
      message: expect.stringContaining(message),
      title: 'Invalid request',
      status: 400,
    });
  });

  it('of a command has what the response of a server has', async () => {
    const { code, out, err } = await leaf(['next', 'order', '--json', '--database', 'sqlite:/nowhere/leaf.db']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(JSON.parse(err)).toEqual({
      code: 'LEAF_DATABASE_UNUSABLE',
      message: expect.stringContaining('/nowhere/leaf.db'),
      title: expect.any(String),
      status: 500,
    });
  });
});

it('shows invisible characters of arguments', async () => {
  expect((await leaf(['x\u001b[2J\u202e'])).err).toContain("unknown command 'x\\u001b[2J\\u202e'");
});

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish'])('has a script for %s', async (shell) => {
    const { code, out, err } = await leaf(['completion', shell]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(`completion ${shell} --words`);
  });

  it.each<[string[], string[]]>([
    [['ra'], ['range']],
    [
      ['tags', ''],
      ['list', 'get', 'create', 'help'],
    ],
    [['--url', 'http://a', 'tags', 'c'], ['create']],
    [['next', 'order', ''], []],
    [['next', 'order', '--f'], ['--format']],
    [['next', '--to'], ['--token-file']],
    [
      ['tags', 'create', 'order', '--order', ''],
      ['relaxed', 'strict', 'gapless'],
    ],
    [['tags', 'create', '--description', 'list', '--rese'], ['--reset']],
    [['tags', 'create', 'invoice', '--rei'], ['--reissue']],
    [['tags', 'create', 'invoice', '--pa'], ['--pattern']],
    [
      ['numbers', ''],
      ['issue', 'confirm', 'void', 'show', 'list', 'audit', 'continue', 'help'],
    ],
    [
      ['numbers', 'list', 'invoice', '--state', ''],
      ['issued', 'confirmed', 'void', 'reissued'],
    ],
    [['numbers', 'continue', 'invoice', '--la'], ['--last']],
    [['numbers', 'void', 'invoice', 'a', '--rea'], ['--reason']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
  ])('of %j is %j', async (words, expected) => {
    const { code, out } = await leaf(['completion', 'bash', '--words', words.join('\x1f')]);
    expect({ code, words: out.split('\n').slice(0, -1) }).toEqual({ code: 0, words: expected });
  });

  it('describes the words in zsh and fish', async () => {
    expect((await leaf(['completion', 'zsh', '--words', 'deco'])).out).toMatch(/^decode:show the time/);
    expect((await leaf(['completion', 'fish', '--words', 'deco'])).out).toMatch(/^decode\tshow the time/);
  });
});
