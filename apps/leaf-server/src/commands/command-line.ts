import { Argument, type Command, InvalidArgumentError } from 'commander';
import { isTag } from '@leaf-ids/core/internal';
import { createProgram, type ProgramOptions } from '@leaf-ids/cli';
import type { DialectName } from '@leaf-ids/persistence';
import { serverVersion } from '../config/version';

const SETTINGS = `
Settings are environment variables, or lines of a file .env in the working directory. .env.example and
docs/configuration.md list them. Without any, the server listens on port 8080 and keeps its state in ./data.`;

/** Not imported: loading the dialects takes longer than printing the usage. */
const DIALECTS: readonly DialectName[] = ['mysql', 'postgres', 'sqlite'];

export type CommandLine =
  | { readonly command: 'serve' }
  | { readonly command: 'check'; readonly json: boolean }
  | { readonly command: 'schema'; readonly dialect: DialectName }
  | ({ readonly command: 'restore' } & RestoreArguments)
  | ({ readonly command: 'move-tags' } & MoveArguments)
  | ({ readonly command: 'remove-database' } & RemoveArguments);

export interface RestoreArguments {
  /** One of several databases. */
  readonly database?: string;
  /** The gap in IDs; by default that of a failover. */
  readonly gap?: number;
  /** Tag → its highest issued ID. */
  readonly issued: ReadonlyMap<string, bigint>;
  readonly dryRun: boolean;
  readonly json: boolean;
}

export interface MoveArguments {
  /** All misplaced tags when empty. */
  readonly tags: readonly string[];
  readonly dryRun: boolean;
  readonly json: boolean;
}

export interface RemoveArguments {
  readonly database: string;
  readonly dryRun: boolean;
  readonly json: boolean;
}

const RESTORE_CODES = `
Exit codes: 0 done, 1 not done, 2 invalid arguments, 3 done, but some tags are used up: raise their max.`;

const MOVE_HELP = `
Run it with the new settings (LEAF_DATABASE_URLS, LEAF_DATABASE_TAGS). Servers may run meanwhile: they issue no ID twice.`;

const MAX_IDS = 1_000_000_000_000;

function ids(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= MAX_IDS) return value;
  throw new InvalidArgumentError(`Use a whole number from 1 to ${MAX_IDS}.`);
}

function issuedId(text: string, earlier: ReadonlyMap<string, bigint> = new Map()): ReadonlyMap<string, bigint> {
  const [, tag = '', id = ''] = /^(.*)=(\d{1,18})$/.exec(text) ?? [];
  if (isTag(tag)) return new Map([...earlier, [tag, BigInt(id)]]);
  throw new InvalidArgumentError('Use a tag and its highest ID, such as order=12345.');
}

/** The commands of leaf-server. Each of them calls `run`. */
export function serverProgram(run: (line: CommandLine) => Promise<void>, output: ProgramOptions): Command {
  const hint = 'Settings are environment variables, such as LEAF_PORT';
  const program = createProgram('leaf-server', serverVersion(), { hint, ...output })
    .description('Without a command, starts a server.')
    .addHelpText('after', SETTINGS)
    .action((_options: unknown, command: Command) => {
      const [unknown] = command.args;
      if (unknown !== undefined) command.error(`unknown command '${unknown}'`);
      return run({ command: 'serve' });
    });
  program
    .command('check')
    .description('show which database has each tag, and tags that would start over')
    .option('--json', 'print JSON')
    .action(({ json = false }: { json?: boolean }) => run({ command: 'check', json }));
  program
    .command('restore')
    .description('move all tags forward after a backup was loaded, so that no ID is issued again')
    .option('--database <name>', 'the restored one of several databases')
    .option('--gap <ids>', 'move each tag by at least this many IDs (default: the gap of a failover)', ids)
    .option('--issued <tag=id>', 'highest ID that a tag has issued: it continues above, without a gap', issuedId)
    .option('--dry-run', 'show what would be changed')
    .option('--json', 'print JSON')
    .addHelpText('after', RESTORE_CODES)
    .action(
      ({ issued = new Map<string, bigint>(), dryRun = false, json = false, ...options }: Partial<RestoreArguments>) =>
        run({ command: 'restore', issued, dryRun, json, ...options }),
    );
  program
    .command('move-tags')
    .description('move tags to the database that the settings assign to them')
    .argument('[tags...]', 'only these (default: all that are in another database)')
    .option('--dry-run', 'show what would be moved')
    .option('--json', 'print JSON')
    .addHelpText('after', MOVE_HELP)
    .action((tags: string[], { dryRun = false, json = false }: Partial<MoveArguments>) =>
      run({ command: 'move-tags', tags, dryRun, json }),
    );
  program
    .command('remove-database')
    .description('remove one of several databases: move its tags to the others')
    .requiredOption('--database <name>', 'the database, which LEAF_DATABASE_URLS still contains')
    .option('--dry-run', 'show what would be moved')
    .option('--json', 'print JSON')
    .action(({ database = '', dryRun = false, json = false }: Partial<RemoveArguments>) =>
      run({ command: 'remove-database', database, dryRun, json }),
    );
  program
    .command('schema')
    .description('print the SQL that creates the tables')
    .addArgument(new Argument(`<${DIALECTS.join('|')}>`, 'the database').choices(DIALECTS))
    .action((dialect: DialectName) => run({ command: 'schema', dialect }));
  // So that the action names the unknown command. Not inherited by the commands above.
  return program.allowExcessArguments();
}
