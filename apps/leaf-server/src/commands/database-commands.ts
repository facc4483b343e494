import { LeafError, MAX_RANGE_SIZE, SystemClock } from '@leaf-ids/core';
import { DEFAULT_SEGMENT_OPTIONS, systemRandom, visibleLines } from '@leaf-ids/core/internal';
import {
  checkDatabases,
  DEFAULT_FAILOVER_GAP_STEPS,
  type DialectName,
  moveTags,
  moveText,
  removalText,
  removeDatabase,
  reportText,
  restoreDatabase,
  restoreText,
  schemaStatements,
} from '@leaf-ids/persistence';
import type { LeafConfig } from '../config/leaf-config';
import { withVariables } from '../config/variables';
import type { CommandLine, RestoreArguments } from './command-line';

type Segment = NonNullable<LeafConfig['ids']['segment']>;
type Database = Exclude<Segment['database'], { readonly dataSource: unknown }>;

interface ConfiguredDatabases {
  readonly segment: Omit<Segment, 'database'> & { readonly database: Database };
  /** Name → URL; a single database is called `database`. */
  readonly urls: ReadonlyMap<string, string>;
}

/** @throws LeafError `LEAF_CONFIG_INVALID` when segment mode is off */
function databasesOf({ ids: { segment } }: LeafConfig): ConfiguredDatabases {
  if (segment === undefined || 'dataSource' in segment.database) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      'Segment mode is off, so there are no tags. Set LEAF_SEGMENT_ENABLED=true.',
    );
  }
  const { database } = segment;
  const urls = 'shards' in database ? Object.entries(database.shards.databases) : [['database', database.url] as const];
  return { segment: { ...segment, database }, urls: new Map(urls) };
}

/**
 * `leaf-server check [--json]`: prints which tags are in which database, and which tags would start over with this
 * configuration. Changes nothing.
 *
 * @returns the exit code: 0 if servers can start, 1 if there are problems to fix first
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export async function runCheck(config: LeafConfig, { json }: { readonly json: boolean }): Promise<number> {
  const { database } = databasesOf(config).segment;
  const report = withVariables(await checkDatabases(database, new SystemClock(), systemRandom));
  const text = json ? visibleLines(JSON.stringify(report, null, 2)) : reportText(report);
  process.stdout.write(`${text}\n`);
  return report.ok ? 0 : 1;
}

/**
 * `leaf-server move-tags`: moves tags to the databases that own them. `leaf-server remove-database`: moves the tags of
 * one of several databases to the others, and takes it out of the list.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`, and as {@link moveTags} and {@link removeDatabase}
 */
export async function runMove(
  config: LeafConfig,
  line: Extract<CommandLine, { readonly command: 'move-tags' | 'remove-database' }>,
): Promise<void> {
  const { database: segment, maxStep } = databasesOf(config).segment;
  if (!('shards' in segment)) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      'Only one database is configured. Set the option segment.database.shards.',
    );
  }
  const { dryRun, json } = line;
  const options = { ...segment, ...(maxStep !== undefined && { maxStep }), dryRun };
  const [clock, random] = [new SystemClock(), systemRandom];
  const print = <Report>(report: Report, text: (report: Report) => string): unknown =>
    process.stdout.write(`${json ? visibleLines(JSON.stringify(report, null, 2)) : withVariables(text(report))}\n`);
  if (line.command === 'move-tags') {
    const only = line.tags.length > 0 ? { only: line.tags } : {};
    print(await moveTags({ ...options, ...only }, clock, random), moveText);
  } else {
    print(await removeDatabase({ ...options, database: line.database }, clock, random), removalText);
  }
}

/** Exit code: the tags were moved, and some of them are used up. */
const USED_UP = 3;

/**
 * `leaf-server restore`: prepares a database into which a backup was loaded, so that servers can start on it.
 *
 * @returns the exit code: 0, or 3 when tags are used up
 * @throws LeafError `LEAF_CONFIG_INVALID`, and as `restoreDatabase`
 */
export async function runRestore(config: LeafConfig, line: RestoreArguments): Promise<number> {
  const { segment, urls } = databasesOf(config);
  const { database: name, gap: ids, issued, dryRun, json } = line;
  const { migrate, accept = [], failoverGapSteps } = segment.database;
  const url = urls.size === 1 && name === undefined ? [...urls.values()][0] : urls.get(name ?? '');
  if (url === undefined) throw unknownDatabase(name, [...urls.keys()]);
  const { maxStep = DEFAULT_SEGMENT_OPTIONS.maxStep } = segment;
  const steps = failoverGapSteps === 0 ? undefined : failoverGapSteps;
  const gap =
    ids === undefined
      ? { steps: steps ?? DEFAULT_FAILOVER_GAP_STEPS, least: Math.max(maxStep, MAX_RANGE_SIZE) }
      : { steps: 1, least: ids };
  const report = await restoreDatabase({ url, migrate, accept, gap, issued, dryRun }, new SystemClock(), systemRandom);
  process.stdout.write(`${json ? visibleLines(JSON.stringify(report, null, 2)) : restoreText(report)}\n`);
  return report.rows.some(({ state }) => state === 'used up') ? USED_UP : 0;
}

function unknownDatabase(name: string | undefined, names: readonly string[]): LeafError {
  const problem = name === undefined ? 'Several databases are configured' : `Database "${name}" does not exist`;
  return new LeafError('LEAF_CONFIG_INVALID', `${problem}. Name the restored one: --database ${names.join('|')}.`);
}

/**
 * `leaf-server schema mysql|postgres|sqlite`: prints the SQL that creates the tables in an empty database. Opens no
 * connection and reads no settings.
 */
export async function runSchema(dialect: DialectName): Promise<void> {
  const text = (await schemaStatements(dialect)).map((line) => `${line};\n`).join('');
  process.stdout.write(
    `-- The tables of Leaf for an empty ${dialect} database. Run this once, before the first start.\n${text}`,
  );
}
