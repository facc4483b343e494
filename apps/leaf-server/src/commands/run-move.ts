import { LeafError, SystemClock } from '@leaf-ids/core';
import { systemRandom, visibleLines } from '@leaf-ids/core/internal';
import { moveTags, moveText, removalText, removeDatabase } from '@leaf-ids/persistence';
import type { LeafConfig } from '../config/leaf-config';
import { withVariables } from '../config/option-variables';
import type { CommandLine } from './command-line';
import { databasesOf } from './databases-of';

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
    throw new LeafError('LEAF_CONFIG_INVALID', 'There is a single database. Set the option segment.database.shards.');
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
