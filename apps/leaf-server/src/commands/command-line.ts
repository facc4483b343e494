import { Argument, type Command } from 'commander';
import { createProgram, type Terminal } from '@leaf-ids/cli';
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
  | { readonly command: 'schema'; readonly dialect: DialectName };

/** The commands of leaf-server. Each of them calls `run`. */
export function serverProgram(run: (line: CommandLine) => Promise<void>, terminal?: Terminal): Command {
  const hint = 'Settings are environment variables, such as LEAF_PORT';
  const program = createProgram('leaf-server', serverVersion(), terminal, hint)
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
    .command('schema')
    .description('print the SQL that creates the tables')
    .addArgument(new Argument(`<${DIALECTS.join('|')}>`, 'the database').choices(DIALECTS))
    .action((dialect: DialectName) => run({ command: 'schema', dialect }));
  // So that the action names the unknown command. Not inherited by the commands above.
  return program.allowExcessArguments();
}
