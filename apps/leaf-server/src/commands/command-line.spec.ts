import { DIALECT_NAMES } from '@leaf-ids/persistence';
import { parseCommandLine, USAGE, UsageError } from './command-line';

describe('parseCommandLine', () => {
  it.each([
    [[], { command: 'serve' }],
    [['--help'], { command: 'help' }],
    [['-h'], { command: 'help' }],
    [['check', '--help'], { command: 'help' }],
    [['--version'], { command: 'version' }],
    [['-v'], { command: 'version' }],
    [['check'], { command: 'check', json: false }],
    [['check', '--json'], { command: 'check', json: true }],
    [['schema', 'mysql'], { command: 'schema', dialect: 'mysql' }],
    [['schema'], { command: 'schema', dialect: '' }],
  ])('%j is %j', (args, expected) => {
    expect(parseCommandLine(args)).toEqual(expected);
  });

  it.each([
    [['--port=9000'], "Unknown option '--port'"],
    [['--port', '9000'], "Unknown option '--port'"],
    [['-p'], "Unknown option '-p'"],
    [['--process=1'], "Unknown option '--process'"],
    [['--json'], "Unknown option '--json'"],
    [['schema', 'mysql', '--json'], "Unknown option '--json'"],
    [['--help=yes'], "Option '-h, --help' does not take an argument"],
    [['start'], "Unknown command 'start'"],
    [['check', 'now'], "Unexpected argument 'now'"],
    [['schema', 'mysql', 'postgres'], "Unexpected argument 'postgres'"],
  ])('refuses %j', (args, message) => {
    const parse = (): unknown => parseCommandLine(args);
    expect(parse).toThrow(UsageError);
    expect(parse).toThrow(message);
  });
});

it('the usage names every dialect', () => {
  expect(USAGE).toContain(`schema ${DIALECT_NAMES.join('|')} `);
});
