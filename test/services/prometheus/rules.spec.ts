import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../../support/build';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';
import { run } from '../../support/servers/services';
import { requireTool } from '../../support/tools';

const RULES = 'leaf.rules.yaml';
const TESTS = ['leaf.rules.days.test.yaml', 'leaf.alerts.test.yaml', 'leaf.rules.test.yaml'];
const shipped = (name: string): string => join(ROOT, 'deploy/prometheus', name);

let promtool: string;
beforeAll(async () => {
  promtool = await requireTool('promtool');
});

/** Rejects at the first file with a test of the rules that fails. */
async function testRules(files: readonly string[]): Promise<void> {
  for (const file of files) expect((await run(promtool, ['test', 'rules', file])).stdout).toContain('SUCCESS');
}

it('the rules pass their unit tests', async () => {
  await run(promtool, ['check', 'rules', shipped(RULES)]);
  await testRules(TESTS.map(shipped));
});

describe('the unit tests notice', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await makeDataDirectory();
    for (const name of TESTS) await copyFile(shipped(name), join(directory, name));
  });
  afterEach(() => removeDataDirectory(directory));

  it.each([
    [
      'worker IDs compared across namespaces',
      'count_values by (namespace, job, name, storage)',
      'count_values by (job)',
    ],
    ['worker IDs compared across databases', '(namespace, job, name, storage)', '(namespace, job, name)'],
    ['worker IDs compared across names', '(namespace, job, name, storage)', '(namespace, job, storage)'],
    ['targets that are not watched', "'leaf:target_up == 0'", "'leaf:target_up == 2'"],
    ['a majority of targets that may be down', '> 0.5 * count', '> 0.9 * count'],
    ['servers that may disappear', '0 * max_over_time(leaf:servers:count[6h])) < 3', 'leaf:servers:count) < 1'],
    [
      'a database that fails for most servers',
      '> 0.5 * count by (namespace, job) (leaf_segment_load_failures_total)',
      '> count by (namespace, job) (leaf_segment_load_failures_total)',
    ],
    ['processes that are not watched', 'leaf_process_up == 0', 'leaf_process_up == 2'],
    [
      'refusals that are not errors',
      'status=~"5.."}[5m]) or rate(leaf_overload_refusals_total[5m])',
      'status=~"5.."}[5m])',
    ],
    ['probes of a drained server as errors', '{route!~"/health/.*",status=~"5.."}', '{status=~"5.."}'],
    ['a clock offset that is told for ever', 'process_start_time_seconds < 3600', 'process_start_time_seconds < 1e9'],
    [
      'an end of a tag that is unknown after a restart',
      'last_over_time(leaf_tag_end_seconds[3h])) < 180',
      'last_over_time(leaf_tag_end_seconds[1h])) < 180',
    ],
    [
      'a range of worker IDs that is full by intention',
      '\n          and leaf:registry_workers_used:ratio > max_over_time(leaf:registry_workers_used:ratio[7d] offset 1d)',
      '',
    ],
    [
      'commands hidden by the pings of a connection pool',
      '(rate(leaf_resp_commands_total{command=~"INCR|INCRBY|LEAF[.].*"}[5m])) > 0)',
      '(rate(leaf_resp_commands_total[5m])) > 0)',
    ],
    ['late answers of the Redis protocol', ' or leaf:resp_id_duration_seconds:p99_5m > 1', ''],
    ['refused commands of the Redis protocol', ' or leaf:resp_refused_by_instance:ratio5m > 0.5', ''],
    ['strangers that send what they like', 'status=~"401|403|429"', 'status=~"4.."'],
    ['servers that wait for a worker ID', 'leaf_worker_id_missing == 1', 'leaf_worker_id_missing == 2'],
    ['refreshes every ten minutes', 'refresh_failures_total[1h]', 'refresh_failures_total[15m]'],
    [
      'tags without a label that are not watched',
      '(leaf_segment_exhaustion_min_seconds < 600',
      '(leaf_segment_exhaustion_min_seconds < 0',
    ],
  ])('%s', async (_what, part, broken) => {
    const rules = await readFile(shipped(RULES), 'utf8');
    expect(rules).toContain(part);
    await writeFile(join(directory, RULES), rules.replace(part, broken));
    await expect(testRules(TESTS.map((name) => join(directory, name)))).rejects.toThrow();
  });
});
