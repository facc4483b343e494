import { parseArgs } from 'node:util';

export const USAGE = `Usage:
  leaf-server                                start a server
  leaf-server check [--json]                 show which database has each tag, and tags that would start over
  leaf-server schema mysql|postgres|sqlite   print the SQL that creates the tables

Options:
  -h, --help      show this text
  -v, --version   show the version

Settings are environment variables, or lines of a file .env in the working directory. .env.example and
docs/configuration.md list them. Without any, the server listens on port 8080 and keeps its state in ./data.
`;

/** Arguments that leaf-server does not have; the message names the first of them. */
export class UsageError extends Error {}

export type CommandLine =
  | { readonly command: 'help' | 'version' | 'serve' }
  | { readonly command: 'check'; readonly json: boolean }
  | { readonly command: 'schema'; readonly dialect: string };

const OPTIONS = {
  help: { type: 'boolean', short: 'h', default: false },
  version: { type: 'boolean', short: 'v', default: false },
  json: { type: 'boolean', default: false },
} as const;

/**
 * @param args without the program and its file
 * @throws UsageError
 */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { values, positionals } = parsed(args);
  const { help, version, json } = values;
  if (help) return { command: 'help' };
  if (version) return { command: 'version' };
  const [command, ...rest] = positionals;
  if (json && command !== 'check') throw new UsageError("Unknown option '--json'");
  const extra = command === 'schema' ? rest[1] : rest[0];
  if (extra !== undefined) throw new UsageError(`Unexpected argument '${extra}'`);
  switch (command) {
    case undefined:
      return { command: 'serve' };
    case 'check':
      return { command, json };
    case 'schema':
      return { command, dialect: rest[0] ?? '' };
    default:
      throw new UsageError(`Unknown command '${command}'`);
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    // The rest of the message explains how to pass the option as a positional argument.
    const [fault] = (error as Error).message.split('. ', 1);
    throw new UsageError(`${fault}. Settings are environment variables, such as LEAF_PORT`, { cause: error });
  }
}
