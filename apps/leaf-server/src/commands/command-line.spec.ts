import { runProgram, wantsJson } from '@leaf-ids/cli';
import { DIALECT_NAMES } from '@leaf-ids/persistence';
import { serverVersion } from '../config/version';
import { type CommandLine, serverProgram } from './command-line';

async function run(...args: string[]): Promise<{ code: number; lines: CommandLine[]; out: string; err: string }> {
  const lines: CommandLine[] = [];
  const written = { out: '', err: '' };
  const terminal = {
    out: (text: string) => (written.out += text),
    err: (text: string) => (written.err += text),
  };
  const program = serverProgram((line) => Promise.resolve(void lines.push(line)), { terminal, json: wantsJson(args) });
  return { code: await runProgram(program, args), lines, ...written };
}

describe('the arguments of leaf-server', () => {
  it.each<[string[], CommandLine]>([
    [[], { command: 'serve' }],
    [['check'], { command: 'check', json: false }],
    [['check', '--json'], { command: 'check', json: true }],
    [['restore'], { command: 'restore', issued: new Map(), dryRun: false, json: false }],
    [
      ['restore', '--database', 'a', '--gap', '5', '--issued', 'b=7', '--issued', 'c=8', '--dry-run', '--json'],
      {
        ...{ command: 'restore', database: 'a', gap: 5, dryRun: true, json: true },
        issued: new Map([
          ['b', 7n],
          ['c', 8n],
        ]),
      },
    ],
    [['move-tags'], { command: 'move-tags', tags: [], dryRun: false, json: false }],
    [
      ['move-tags', 'order', 'a', '--dry-run'],
      { command: 'move-tags', tags: ['order', 'a'], dryRun: true, json: false },
    ],
    [['remove-database', '--database', 'c'], { command: 'remove-database', database: 'c', dryRun: false, json: false }],
    [
      ['remove-database', '--database', 'c', '--dry-run', '--json'],
      { command: 'remove-database', database: 'c', dryRun: true, json: true },
    ],
    ...DIALECT_NAMES.map((dialect): [string[], CommandLine] => [['schema', dialect], { command: 'schema', dialect }]),
  ])('%j is %j', async (args, line) => {
    expect(await run(...args)).toEqual({ code: 0, lines: [line], out: '', err: '' });
  });

  it.each([['--help'], ['-h'], ['check', '--help'], ['schema', '--help']])('%s %s shows the usage', async (...args) => {
    const { code, lines, out, err } = await run(...args);
    expect({ code, lines, err }).toEqual({ code: 0, lines: [], err: '' });
    expect(out).toMatch(/^Usage: leaf-server /);
  });

  it.each(['--version', '-v'])('%s shows the version', async (option) => {
    expect(await run(option)).toEqual({ code: 0, lines: [], out: `${serverVersion()}\n`, err: '' });
  });

  it('the usage names the commands, and where the settings are', async () => {
    const { out } = await run('--help');
    for (const text of [
      'check ',
      'restore ',
      'move-tags ',
      'remove-database ',
      'schema <mysql|postgres|sqlite>',
      '--version',
      '.env.example',
    ])
      expect(out).toContain(text);
    expect((await run('schema', '--help')).out).toContain(
      `choices: ${DIALECT_NAMES.map((name) => `"${name}"`).join(', ')}`,
    );
  });

  it.each([
    [['--port=9000'], "unknown option '--port=9000'"],
    [['--port', '9000'], "unknown option '--port'"],
    [['-p'], "unknown option '-p'"],
    [['--process=1'], "unknown option '--process=1'"],
    [['start'], "unknown command 'start'"],
    [['check', 'now'], "too many arguments for 'check'. Expected 0 arguments but got 1"],
    [['remove-database'], "required option '--database <name>' not specified"],
    [['schema'], "missing required argument 'mysql|postgres|sqlite'"],
    [['schema', 'oracle'], "argument value 'oracle' is invalid for argument 'mysql|postgres|sqlite'"],
    [['schema', 'mysql', 'postgres'], "too many arguments for 'schema'"],
  ])('refuses %j', async (args, message) => {
    const { code, lines, out, err } = await run(...args);
    expect({ code, lines, out }).toEqual({ code: 2, lines: [], out: '' });
    expect(err).toMatch(/^leaf-server: [^\n]+\. Settings are .+ leaf-server --help shows the usage\.\n$/);
    expect(err).toContain(message);
  });
});
