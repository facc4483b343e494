import { LeafError, MAX_RANGE_SIZE, SystemClock } from '@leaf-ids/core';
import { DEFAULT_SEGMENT_OPTIONS, systemRandom, visibleLines } from '@leaf-ids/core/internal';
import { DEFAULT_FAILOVER_GAP_STEPS, restoreDatabase, restoreText } from '@leaf-ids/persistence';
import type { LeafConfig } from '../config/leaf-config';
import type { RestoreArguments } from './command-line';
import { databasesOf } from './databases-of';

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
  const problem = name === undefined ? 'There are several databases' : `There is no database "${name}"`;
  return new LeafError('LEAF_CONFIG_INVALID', `${problem}. Name the restored one: --database ${names.join('|')}.`);
}
