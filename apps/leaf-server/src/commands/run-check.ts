import { LeafError, SystemClock, systemRandom } from '@leaf-ids/core';
import { checkDatabases } from '@leaf-ids/persistence';
import type { LeafConfig } from '../config/leaf-config';
import { reportText } from './report-text';

/**
 * `leaf-server check [--json]`: prints which tags are in which database, and what would begin anew with this
 * configuration. Nothing is changed.
 *
 * @returns the exit code: 0 when servers may start, 1 when there is something to do first
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export async function runCheck({ ids }: LeafConfig, args: readonly string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== '--json');
  if (unknown !== undefined) {
    throw new LeafError('LEAF_CONFIG_INVALID', `leaf-server check takes --json and nothing else, not ${unknown}.`);
  }
  const { segment } = ids;
  if (segment === undefined || 'dataSource' in segment.database) {
    throw new LeafError('LEAF_CONFIG_INVALID', 'There are no tags to check: LEAF_SEGMENT_ENABLED is false.');
  }
  const report = await checkDatabases(segment.database, new SystemClock(), systemRandom);
  const text = args.includes('--json') ? JSON.stringify(report, null, 2) : reportText(report);
  process.stdout.write(`${text}\n`);
  return report.ok ? 0 : 1;
}
