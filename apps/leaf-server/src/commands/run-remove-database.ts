import { LeafError, SystemClock } from '@leaf-ids/core';
import { systemRandom, visibleLines } from '@leaf-ids/core/internal';
import { removalText, removeDatabase } from '@leaf-ids/persistence';
import type { LeafConfig } from '../config/leaf-config';
import { withVariables } from '../config/option-variables';
import type { RemoveArguments } from './command-line';
import { databasesOf } from './databases-of';

/**
 * `leaf-server remove-database`: moves the tags of one of several databases to the others, and takes it out of the list.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`, and as `removeDatabase`
 */
export async function runRemoveDatabase(config: LeafConfig, line: RemoveArguments): Promise<void> {
  const { database: segment, maxStep } = databasesOf(config).segment;
  if (!('shards' in segment)) {
    throw new LeafError('LEAF_CONFIG_INVALID', 'There is a single database. Set the option segment.database.shards.');
  }
  const { database, dryRun, json } = line;
  const options = { ...segment, ...(maxStep !== undefined && { maxStep }), database, dryRun };
  const report = await removeDatabase(options, new SystemClock(), systemRandom);
  process.stdout.write(
    `${json ? visibleLines(JSON.stringify(report, null, 2)) : withVariables(removalText(report))}\n`,
  );
}
