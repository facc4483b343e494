import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { LeafError, MAX_ID, type TagReset } from '@leaf-ids/core';
import { isReset, messageOf, parseRfc3339, RESET_RULE } from '@leaf-ids/core/internal';

/** URL of the server of the quick start. */
export const DEFAULT_URL = 'http://127.0.0.1:8080';

/** The variables that only `leaf` reads. */
export const LEAF_VARIABLES: readonly string[] = ['LEAF_URL', 'LEAF_TOKEN', 'LEAF_TOKEN_FILE'];

/** Default and maximum time limit of a request, in milliseconds. */
const DEFAULT_TIMEOUT_MS = 5000;
const MAX_TIMEOUT_MS = 600_000;

/** The options of every command. */
export interface CommonOptions {
  readonly url?: string;
  readonly database?: string;
  readonly tokenFile?: string;
  readonly timeout: number;
  readonly json?: true;
}

/** Server or database of a command; undefined if neither options nor variables name one. */
export type Target = { readonly url: string } | { readonly database: string } | undefined;

export function addCommonOptions(program: Command): Command {
  return program
    .option('--url <url>', `server (LEAF_URL; default: ${DEFAULT_URL})`, httpUrl)
    .option('--database <url>', 'database instead of a server (LEAF_DATABASE_URL)')
    .option('--token-file <file>', 'file with the token of the server (LEAF_TOKEN_FILE; LEAF_TOKEN: the token)')
    .option('--timeout <ms>', 'limit for the requests to a server', whole(1, MAX_TIMEOUT_MS), DEFAULT_TIMEOUT_MS)
    .option('--json', 'print one JSON value');
}

/** `-n`, from 1 to `most`. */
export function countOption(most: number): Option {
  return new Option('-n, --count <n>', `number of IDs, 1 to ${most}`).argParser(whole(1, most));
}

/** An option takes precedence over a variable, and a server over a database. An empty variable is not set. */
export function targetOf({ url, database }: CommonOptions, program: Command, env: NodeJS.ProcessEnv): Target {
  if (url !== undefined && database !== undefined) program.error('--url and --database exclude each other');
  if (url !== undefined) return { url };
  if (database !== undefined) return { database };
  const { LEAF_URL = '', LEAF_DATABASE_URL = '' } = env;
  if (LEAF_URL !== '') {
    if (!isHttpUrl(LEAF_URL)) program.error(`the variable LEAF_URL is invalid. ${HTTP_URL}`);
    return { url: LEAF_URL };
  }
  return LEAF_DATABASE_URL === '' ? undefined : { database: LEAF_DATABASE_URL };
}

/** @throws LeafError `LEAF_CONFIG_INVALID` for a file that cannot be read */
export function tokenOf({ tokenFile }: CommonOptions, env: NodeJS.ProcessEnv): string | undefined {
  const { LEAF_TOKEN = '', LEAF_TOKEN_FILE = '' } = env;
  if (tokenFile === undefined && LEAF_TOKEN !== '') return LEAF_TOKEN;
  return contentOf(tokenFile ?? LEAF_TOKEN_FILE, 'token file', '--token-file or LEAF_TOKEN_FILE');
}

/**
 * How the servers of a database keep its gapless numbers: the variables are those of `leaf-server`.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function numberOptionsOf(env: NodeJS.ProcessEnv): { readonly key?: string; readonly sync: boolean } {
  const { LEAF_NUMBERS_KEY = '', LEAF_NUMBERS_KEY_FILE = '', LEAF_NUMBERS_SYNC } = env;
  const sync = LEAF_NUMBERS_SYNC === 'true';
  const key = LEAF_NUMBERS_KEY || contentOf(LEAF_NUMBERS_KEY_FILE, 'key file', 'LEAF_NUMBERS_KEY_FILE');
  if (key === undefined) return { sync };
  if (key.length >= 16) return { key, sync };
  throw new LeafError('LEAF_CONFIG_INVALID', 'LEAF_NUMBERS_KEY must have at least 16 characters.');
}

/**
 * The worker IDs that a command may take from the pool of a database: those of its servers, by their variables.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function workersOf(given: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  const { LEAF_SNOWFLAKE_WORKERS, LEAF_SNOWFLAKE_DATACENTER } = env;
  const workers = given ?? LEAF_SNOWFLAKE_WORKERS;
  if (workers === '') throw emptyLimit(given === undefined ? 'LEAF_SNOWFLAKE_WORKERS' : '--workers');
  if (workers !== undefined) return workers;
  if (LEAF_SNOWFLAKE_DATACENTER === undefined) return undefined;
  if (LEAF_SNOWFLAKE_DATACENTER === '') throw emptyLimit('LEAF_SNOWFLAKE_DATACENTER');
  throw new LeafError(
    'LEAF_CONFIG_INVALID',
    'LEAF_SNOWFLAKE_DATACENTER is set, and the bits of a data center are not known here: name its worker IDs with --workers or LEAF_SNOWFLAKE_WORKERS.',
  );
}

/** Without the limit that is meant, the command could take a worker ID of another region. */
function emptyLimit(name: string): LeafError {
  return new LeafError('LEAF_CONFIG_INVALID', `${name} is empty. Set the worker IDs, such as 96-127, or remove it.`);
}

/** The content of a file; undefined without one. */
function contentOf(file: string, name: string, source: string): string | undefined {
  if (file === '') return undefined;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new LeafError('LEAF_CONFIG_INVALID', `The ${name} cannot be read: ${messageOf(error)}. Correct ${source}.`);
  }
}

/** Parses a whole number. */
export function whole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Use a whole number from ${least} to ${most}.`);
  };
}

/** Parses an ID. */
export function id(text: string): bigint {
  const value = /^\d{1,19}$/.test(text) ? BigInt(text) : -1n;
  if (value >= 0n && value <= MAX_ID) return value;
  throw new InvalidArgumentError(`Use a whole number from 0 to ${MAX_ID}.`);
}

/** Parses a `reset`. */
export function reset(text: string): TagReset {
  if (isReset(text)) return text;
  throw new InvalidArgumentError(`Use ${RESET_RULE}.`);
}

/** Parses a time. */
export function time(text: string): Date {
  const parsed = parseRfc3339(text);
  if (parsed !== undefined) return parsed;
  throw new InvalidArgumentError('Use an RFC 3339 time with Z or an offset, such as 2026-11-22T10:00:00Z.');
}

const HTTP_URL = `Use an http or https URL, such as ${DEFAULT_URL}.`;

function httpUrl(text: string): string {
  if (isHttpUrl(text)) return text;
  throw new InvalidArgumentError(HTTP_URL);
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
