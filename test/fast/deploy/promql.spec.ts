import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { LEAF_METRICS } from '@leaf-ids/id/internal';
import { SERVER_METRICS } from '../../../apps/leaf-server/src/metrics/server-metrics';
import { ROOT } from '../../support/build';
import { call, text } from '../../support/http/http';
import { readAlertCases } from '../../support/http/alert-cases';
import type { Family } from '../../support/http/exposition';
import { scrape } from '../../support/http/metrics';
import { exposedSeries, readPromql } from '../../support/http/promql';
import { RespClient } from '../../support/resp-client';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';
import { startTestServer, type TestServer } from '../../support/servers/server';

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
  readonly annotations: { readonly list: readonly { readonly name: string; readonly expr?: string }[] };
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
}

interface AdapterRules {
  readonly rules: readonly { readonly seriesQuery: string; readonly metricsQuery: string }[];
}

/** An expression and where it stands. */
type Expression = readonly [place: string, expression: string];

const TAG = 'leaf-segment-test';
/** What Prometheus adds to what it scrapes. */
const TARGET_LABELS = ['job', 'instance', 'namespace', 'pod', '__name__'];
/** Labels by the tables of metrics: a metric has no samples before something happens. */
const TABLES: ReadonlyMap<string, readonly string[]> = new Map(
  [...LEAF_METRICS, ...SERVER_METRICS].map(({ name, labels = [] }) => [name, labels]),
);
/** What every metric of a server with several processes may have. */
const PROCESS = 'process';

/** What only Prometheus, or a server of several processes, has. */
const ELSEWHERE = ['up', 'leaf_process_up'];

const read = (file: string): string => readFileSync(join(ROOT, 'deploy', file), 'utf8');
const { groups } = parse(read('prometheus/leaf.rules.yaml')) as { groups: readonly { rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read('grafana/leaf.json')) as Dashboard;
const files = readdirSync(join(ROOT, 'deploy/prometheus')).filter((name) => name.endsWith('.test.yaml'));
const cases = readAlertCases(files.map((name) => read(`prometheus/${name}`)));
const adapter = parse(read('prometheus/adapter.rules.yaml')) as AdapterRules;

function rulesExpressions(): Expression[] {
  return rules.map(({ alert, record, expr }) => [alert ?? record ?? 'a rule without a name', expr]);
}

function dashboardExpressions(): Expression[] {
  const panels = dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }): Expression => [title, expr]),
  );
  const annotations = dashboard.annotations.list.flatMap(({ name, expr }): Expression[] =>
    expr === undefined ? [] : [[name, expr]],
  );
  return [...panels, ...annotations, ...variableExpressions()];
}

/** The first argument of `label_values`, grouped by the second, so that this counts as a label that is asked for. */
function variableExpressions(): Expression[] {
  return dashboard.templating.list.flatMap(({ name, query }): Expression[] => {
    const [, selector, label] = /^label_values\((.*), (\w+)\)$/.exec((query as { query?: string }).query ?? '') ?? [];
    return selector === undefined ? [] : [[`variable ${name}`, `count by (${label}) (${selector})`]];
  });
}

/** As the adapter fills its templates in. */
function adapterExpressions(): Expression[] {
  return adapter.rules.flatMap(({ seriesQuery, metricsQuery }): Expression[] => {
    const series = /^\w+/.exec(seriesQuery)?.[0] ?? '';
    const filled = metricsQuery
      .replaceAll('<<.Series>>', series)
      .replaceAll('<<.LabelMatchers>>', 'namespace="leaf",pod=~"leaf-1|leaf-2"')
      .replaceAll('<<.GroupBy>>', 'pod');
    return [
      ['series of the adapter', seriesQuery],
      ['query of the adapter', filled],
    ];
  });
}

/** The alternatives of a pattern with at most one group. */
function alternativesOf(pattern: string): string[] {
  const [, before = '', group, after = ''] = /^(.*)\((.*)\)(.*)$/.exec(pattern) ?? [];
  return group === undefined ? pattern.split('|') : group.split('|').map((part) => before + part + after);
}

const expressions: Expression[] = [...rulesExpressions(), ...dashboardExpressions(), ...adapterExpressions()];

describe('the expressions of rules and dashboard', () => {
  let directory: string;
  let server: TestServer;
  let families: ReadonlyMap<string, Family>;
  let series: Map<string, Set<string>>;

  /** The labels that samples of these metrics can have. */
  const labelsOf = (metrics: readonly string[]): ReadonlySet<string> => {
    const seen = metrics.flatMap((metric) => [
      ...(series.get(metric) ?? []),
      ...(TABLES.get(metric.replace(/_(bucket|sum|count)$/, '')) ?? []),
    ]);
    return new Set([...TARGET_LABELS, PROCESS, ...seen]);
  };
  const hasLabel = (metrics: readonly string[]): ((label: string) => boolean) => {
    const known = labelsOf(metrics);
    return (label) => known.has(label);
  };

  beforeAll(async () => {
    // A registry that counts its worker IDs; it needs no more than the embedded database.
    directory = await makeDataDirectory();
    server = await startTestServer({
      LEAF_DATA_DIR: directory,
      LEAF_DATABASE_URL: `sqlite:${directory}/leaf.sqlite`,
      LEAF_SNOWFLAKE_REGISTRY: 'mysql',
      LEAF_RESP_PORT: '0',
    });
    for (let i = 0; i < 50; i++) {
      await text(server.port, `/api/segment/get/${TAG}`);
      await text(server.port, '/api/snowflake/get/order');
    }
    await text(server.port, `/api/segment/range/${TAG}?size=5000`);
    await call(server.port, '/api/segment/get/no-such-tag');
    await text(server.port, '/health/ready');
    await call(server.port, '/api/numbers/no-such-tag');
    const commands = ['HELLO', 'AUTH word', `INCR ${TAG}`, `INCRBY ${TAG} 5`, `LEAF.NEXT ${TAG}`, 'QUIT'];
    await (await RespClient.to(server.server.respPort!)).last(`${commands.join('\r\n')}\r\n`);
    families = await scrape(server.port);
    series = exposedSeries(families);
  });

  afterAll(async () => {
    await server.stop();
    await removeDataDirectory(directory);
  });

  it('are found', () => {
    expect(rulesExpressions().length).toBeGreaterThan(20);
    expect(dashboardExpressions().length).toBeGreaterThan(50);
    expect(variableExpressions().map(([place]) => place)).toEqual(['variable instance', 'variable tag']);
  });

  it('are PromQL', () => {
    expect(readPromql('sum(rate(x[5m])').faults).not.toStrictEqual([]);
    for (const [place, expression] of expressions) expect([place, readPromql(expression).faults]).toEqual([place, []]);
  });

  it('ask for metrics that a server has', () => {
    const recorded = new Set([...rules.map(({ record }) => record), ...ELSEWHERE]);
    const asked = expressions.flatMap(([, expression]) => readPromql(expression).metrics);
    const unknown = new Set(asked.filter((metric) => !series.has(metric) && !recorded.has(metric)));
    expect([...unknown]).toStrictEqual([]);
  });

  it('ask for labels that these metrics have', () => {
    const wrong = expressions.filter(([, expression]) => {
      const { metrics, labels } = readPromql(expression);
      return !labels.every(hasLabel(metrics));
    });
    expect(wrong).toStrictEqual([]);
  });

  it('are tested with series that a server has', () => {
    const known = new Set([...series.keys(), ...ELSEWHERE]);
    const wrong = cases.series.filter((each) => {
      const { faults, metrics, labels } = readPromql(each);
      return faults.length > 0 || !metrics.every((metric) => known.has(metric)) || !labels.every(hasLabel(metrics));
    });
    expect(cases.series.length).toBeGreaterThan(100);
    expect(wrong).toStrictEqual([]);
  });

  it.each(['route', 'command'])('select values of the label %s that a server has', (label) => {
    const values = [...families.values()].flatMap(({ samples }) =>
      samples.flatMap(({ labels }) => labels[label] ?? []),
    );
    const matchers = expressions.flatMap(([, expression]) => [
      ...expression.matchAll(new RegExp(`\\b${label}(?:=|!=|=~|!~)"([^"$]+)"`, 'g')),
    ]);
    const alternatives = matchers.flatMap(([, pattern = '']) => alternativesOf(pattern));
    expect(alternatives.length).toBeGreaterThan(3);
    const unknown = alternatives.filter(
      (pattern) => !values.some((value) => new RegExp(`^(?:${pattern})$`).test(value)),
    );
    expect([...new Set(unknown)]).toStrictEqual([]);
  });
});
