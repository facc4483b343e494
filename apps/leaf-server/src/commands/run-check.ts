import { LeafError, SystemClock } from '@leaf-ids/core';
import { systemRandom, visibleLines } from '@leaf-ids/core/internal';
import { checkDatabases, reportText } from '@leaf-ids/persistence';
import type { LeafConfig } from '../config/leaf-config';
import { withVariables } from '../config/option-variables';

/**
 * `leaf-server check [--json]`: prints which tags are in which database, and which tags would start over with this
 * configuration. Changes nothing.
 *
 * @returns the exit code: 0 if servers can start, 1 if there are problems to fix first
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export async function runCheck({ ids }: LeafConfig, { json }: { readonly json: boolean }): Promise<number> {
  const { segment } = ids;
  if (segment === undefined || 'dataSource' in segment.database) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      'Segment mode is off, so there are no tags to check. Set LEAF_SEGMENT_ENABLED=true.',
    );
  }
  const report = withVariables(await checkDatabases(segment.database, new SystemClock(), systemRandom));
  const text = json ? visibleLines(JSON.stringify(report, null, 2)) : reportText(report);
  process.stdout.write(`${text}\n`);
  return report.ok ? 0 : 1;
}
