import { SystemClock } from '@leaf-ids/core';
import { systemRandom, visibleLines } from '@leaf-ids/core/internal';
import { checkDatabases, reportText } from '@leaf-ids/persistence';
import type { LeafConfig } from '../config/leaf-config';
import { withVariables } from '../config/option-variables';
import { databasesOf } from './databases-of';

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
