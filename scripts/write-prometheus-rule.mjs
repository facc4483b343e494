// Converts the Prometheus rules to a PrometheusRule for the Prometheus operator. A test checks that both are equal.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { parse, stringify } from 'yaml';

process.chdir(join(import.meta.dirname, '../deploy'));
const FILE = 'kubernetes/monitoring/prometheus-rule.yaml';

const { groups } = parse(readFileSync('prometheus/leaf.rules.yaml', 'utf8'));
const rule = {
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'PrometheusRule',
  metadata: { name: 'leaf', labels: { 'app.kubernetes.io/name': 'leaf' } },
  spec: { groups },
};
const head = '# Made from deploy/prometheus/leaf.rules.yaml by node scripts/write-prometheus-rule.mjs\n';
const text = head + stringify(rule, { lineWidth: 0 });
writeFileSync(FILE, await format(text, { ...(await resolveConfig(FILE)), filepath: FILE }));
