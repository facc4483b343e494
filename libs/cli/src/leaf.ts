import { type Command, Option } from 'commander';
import {
  LeafError,
  MAX_BATCH_SIZE,
  MAX_RANGE_SIZE,
  type TagOrder,
  type TagReset,
  type IdRange,
  type SnowflakeParts,
} from '@leaf-ids/core';
import {
  codeOf,
  DEFAULT_STEP,
  defaultLayout,
  MAX_STEP,
  MAX_TAGS_PER_PAGE,
  ORDERS,
  reasonOf,
  visible,
  table,
  type TagJson,
} from '@leaf-ids/core/internal';
import {
  addCommonOptions,
  type CommonOptions,
  countOption,
  DEFAULT_URL,
  id,
  numberOptionsOf,
  reset,
  targetOf,
  tokenOf,
  whole,
  workersOf,
} from './options';
import { addNumberCommands } from './number-commands';
import { createProgram, errorJson, FAILED, runProgram, type Terminal, wantsJson } from './program';
import type { ServerOptions } from './server-source';
import type { Perform, Result, Source, TagList } from './source';
import { lines } from './text';

interface LeafOptions {
  readonly terminal: Terminal;
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
}

/**
 * Runs `leaf`.
 *
 * @param args without the program and its file
 * @returns the exit code
 */
export async function runLeaf(args: readonly string[], { terminal, env, version }: LeafOptions): Promise<number> {
  const json = wantsJson(args);
  const warn = (text: string): void => {
    const message = oneLine(text);
    terminal.err(json ? `${JSON.stringify({ message })}\n` : `leaf: ${message}\n`);
  };
  const program = createProgram('leaf', version, { terminal, json })
    .description('Unique 64-bit IDs from a Leaf server, or from its database.')
    .configureHelp({ showGlobalOptions: true });
  const outcome = { failed: false };

  async function print(act: () => Promise<Result>, tag?: string, settings?: string): Promise<void> {
    try {
      const result = await act();
      const { note, failed: isFailure = false } = result;
      if (json) terminal.out(`${visible(JSON.stringify(result.json))}\n`);
      else {
        terminal.out(`${result.text}\n`);
        if (note !== undefined) terminal.err(`${visible(note)}\n`);
      }
      outcome.failed = isFailure;
    } catch (error) {
      outcome.failed = true;
      const failure = tag === undefined ? error : withCommand(error, tag, settings);
      if (json) terminal.err(errorJson(failure));
      else warn(failure instanceof LeafError ? `${failure.message} (${failure.code})` : reasonOf(failure));
    }
  }

  /** Opens the source, and closes it before the result is printed. */
  const perform: Perform = async (act, tag, settings) => {
    const options = program.opts<CommonOptions>();
    const target = targetOf(options, program, env) ?? { url: DEFAULT_URL };
    await print(
      async () => {
        const source =
          'url' in target
            ? await openServer({ url: target.url, token: tokenOf(options, env), timeoutMs: options.timeout })
            : await openDatabase(target.database, warn, env);
        try {
          return await act(source);
        } finally {
          await source.close();
        }
      },
      tag,
      settings,
    );
  };

  addCommonOptions(program);
  addIdCommands(program, perform, env);
  program
    .command('decode')
    .description(
      'show the time, the worker ID and the sequence of a snowflake ID; without a server, by the default layout',
    )
    .argument('<id>', 'snowflake ID', id)
    .action((value: bigint) => {
      const isLocal = targetOf(program.opts<CommonOptions>(), program, env) === undefined;
      if (isLocal) return print(() => Promise.resolve(decoded(value, defaultLayout().decompose(value))));
      return perform(async (source) => decoded(value, await source.decode(value)));
    });
  addTagCommands(program, perform);
  addNumberCommands(program, perform);
  program
    .command('check')
    .description('show whether the server is ready, or whether the tags of the database are consistent')
    .option('--strict', 'fail also if the server is degraded')
    .action(({ strict = false }: { strict?: boolean }) => perform((source) => source.check(strict)));

  const code = await runProgram(program, args);
  return outcome.failed ? FAILED : code;
}

function addIdCommands(program: Command, perform: Perform, env: NodeJS.ProcessEnv): void {
  program
    .command('next')
    .description('take the next IDs of a tag')
    .argument('<tag>')
    .addOption(countOption(MAX_BATCH_SIZE).default(1))
    .option('--format <pattern>', 'numbers of a tag that restarts, by a pattern: INV-{YYYY}-{MM}-{seq:5}')
    .action((tag: string, { count, format }: { count: number; format?: string }) =>
      perform(
        async (source) =>
          format === undefined
            ? idList(await source.nextIds(tag, count), { tag })
            : textList(tag, await source.nextTexts(tag, count, format)),
        tag,
      ),
    );
  program
    .command('snowflake')
    .description('take snowflake IDs')
    .addOption(countOption(MAX_BATCH_SIZE).default(1))
    .option('--workers <first-last>', 'with a database: worker IDs that may be taken (LEAF_SNOWFLAKE_WORKERS)')
    .action(({ count, workers }: { count: number; workers?: string }) => {
      const target = targetOf(program.opts<CommonOptions>(), program, env);
      if (workers !== undefined && (target === undefined || 'url' in target)) {
        program.error('--workers needs --database or LEAF_DATABASE_URL: a server has a worker ID of its own');
      }
      return perform(async (source) => idList(await source.snowflakes(count, workers)));
    });
  program
    .command('range')
    .description('take the next IDs of a tag as ranges, first and last ID')
    .argument('<tag>')
    .addOption(countOption(MAX_RANGE_SIZE).makeOptionMandatory())
    .action((tag: string, { count }: { count: number }) =>
      perform(async (source) => rangeList(tag, await source.nextRanges(tag, count)), tag),
    );
}

/** Loaded on demand, as {@link openDatabase}: the usage and `decode` need neither. */
async function openServer(options: ServerOptions): Promise<Source> {
  const { ServerSource } = await import('./server-source.js');
  return new ServerSource(options);
}

async function openDatabase(url: string, warn: (text: string) => void, env: NodeJS.ProcessEnv): Promise<Source> {
  try {
    const { DatabaseSource } = await import('./database-source.js');
    return new DatabaseSource(url, warn, numberOptionsOf(env), (given) => workersOf(given, env));
  } catch (error) {
    if (!/^(ERR_)?MODULE_NOT_FOUND$/.test(codeOf(error) ?? '')) throw error;
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      'A database needs the package @leaf-ids/id and a driver: npm install @leaf-ids/id mysql2 (or pg, libsql).',
      { cause: error },
    );
  }
}

/** The error for a tag that does not exist names the command that creates it. */
function withCommand(error: unknown, tag: string, settings = ''): unknown {
  if (!(error instanceof LeafError) || error.code !== 'LEAF_TAG_NOT_FOUND') return error;
  const message = `Tag "${tag}" does not exist. Create it: leaf tags create ${tag} ${settings}`.trim();
  return new LeafError(error.code, message, { cause: error });
}

function oneLine(text: string): string {
  return visible(text.replaceAll(/\s*\n\s*/g, ' ').trim());
}

interface NewTagOptions {
  readonly step: number;
  readonly from?: bigint;
  readonly max?: bigint;
  readonly order?: TagOrder;
  readonly reset?: TagReset;
  readonly zone?: string;
  readonly pattern?: string;
  readonly reissue?: true;
  readonly description?: string;
}

/** `leaf tags list|get|create`. */
function addTagCommands(program: Command, perform: Perform): void {
  const tags = program.command('tags').description('list, show and create tags');
  // Otherwise the default command would get the word as an argument.
  tags.hook('preSubcommand', ({ args: [word = '-'] }, command) => {
    if (!word.startsWith('-') && word !== command.name()) tags.error(`error: unknown command '${word}'`);
  });
  tags
    .command('list', { isDefault: true })
    .description('list tags by name, page by page')
    .option('--after <tag>', 'start after this tag')
    .option('--limit <n>', `tags per page, 1 to ${MAX_TAGS_PER_PAGE}`, whole(1, MAX_TAGS_PER_PAGE), MAX_TAGS_PER_PAGE)
    .action(({ after, limit }: { after?: string; limit: number }) =>
      perform(async (source) => tagTable(await source.listTags(after, limit))),
    );
  tags
    .command('get')
    .description('show a tag')
    .argument('<tag>')
    .action((tag: string) => perform(async (source) => tagDetails(await source.findTag(tag)), tag));
  tags
    .command('create')
    .description('create a tag; a server requires an admin token')
    .argument('<tag>')
    .option('--step <n>', 'IDs that a server allocates at once', whole(1, MAX_STEP), DEFAULT_STEP)
    .option('--from <id>', 'first ID (default: 1, or the first unused ID of a deleted tag of this name)', id)
    .option('--max <id>', 'last ID', id)
    .addOption(
      new Option(
        '--order <order>',
        'strict: IDs ascend over all servers; gapless: one number for each document',
      ).choices(ORDERS),
    )
    .option('--reset <period>', 'restart each period: daily, weekly, monthly, quarterly, yearly or fiscal:MM-DD', reset)
    .option('--zone <zone>', 'time zone for --reset, such as Europe/Berlin (default: UTC)')
    .option('--pattern <pattern>', 'texts of a gapless tag, such as INV-{YYYY}-{seq:5}')
    .option('--reissue', 'give void numbers of a gapless tag out again')
    .option('--description <text>', 'what the tag is for')
    .action((tag: string, { step, from, ...settings }: NewTagOptions) => {
      const created = { tag, step, ...(from === undefined ? {} : { maxId: from }), ...settings };
      return perform(async (source) => tagDetails(await source.createTag(created)), tag);
    });
}

/** @param facts what the JSON value has beside the IDs */
function idList(ids: readonly bigint[], facts: object = {}): Result {
  const texts = ids.map(String);
  return { text: texts.join('\n'), json: { ...facts, ids: texts } };
}

function textList(tag: string, texts: readonly string[]): Result {
  return { text: texts.map(visible).join('\n'), json: { tag, texts } };
}

function rangeList(tag: string, found: readonly IdRange[]): Result {
  const ranges = found.map(({ from, to }) => ({ from: String(from), to: String(to) }));
  return { text: ranges.map(({ from, to }) => `${from} ${to}`).join('\n'), json: { tag, ranges } };
}

function decoded(id: bigint, { timestamp, workerId, datacenterId, machineId, sequence }: SnowflakeParts): Result {
  const place = datacenterId === undefined ? { workerId } : { workerId, datacenterId, machineId };
  const json = { id: String(id), timestamp, time: new Date(timestamp).toISOString(), ...place, sequence };
  return { text: lines(json), json };
}

function tagDetails(tag: TagJson): Result {
  return { text: lines(tag), json: tag };
}

function tagTable(list: TagList): Result {
  const rows = list.tags.map(({ tag, maxId, step, description }) => [tag, maxId, String(step), description]);
  const text = table(['TAG', 'NEXT ID', 'STEP', 'DESCRIPTION'], rows).join('\n');
  if (list.next === null) return { text, json: list };
  return { text, json: list, note: `There are more tags: leaf tags list --after ${list.next}` };
}
