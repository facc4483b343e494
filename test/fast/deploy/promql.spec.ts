import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../../support/build';
import { call, text } from '../../support/http/http';
import { scrape } from '../../support/http/metrics';
import { exposedSeries, readPromql } from '../../support/http/promql';
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
/** Labels of what has no value before something happens, or before a rate is known. */
const LATER: Readonly<Record<string, readonly string[]>> = {
  leaf_overload_refusals_total: ['reason'],
  leaf_numbers_oldest_open_seconds: ['tag'],
  leaf_tag_end_seconds: ['tag'],
  leaf_segment_exhaustion_seconds: ['tag', 'process'],
  leaf_process_up: ['process'],
  leaf_resp_commands_total: ['command', 'status'],
  process_start_time_seconds: ['process'],
};

/** What only Prometheus, or a server of several processes, has. */
const ELSEWHERE = ['up', 'leaf_process_up'];

const read = (file: string): string => readFileSync(join(ROOT, 'deploy', file), 'utf8');
const { groups } = parse(read('prometheus/leaf.rules.yaml')) as { groups: readonly { rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read('grafana/leaf.json')) as Dashboard;
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

const expressions: Expression[] = [...rulesExpressions(), ...dashboardExpressions(), ...adapterExpressions()];

describe('the expressions of rules and dashboard', () => {
  let directory: string;
  let server: TestServer;
  let series: Map<string, Set<string>>;

  beforeAll(async () => {
    // A registry that counts its worker IDs; it needs no more than the embedded database.
    directory = await makeDataDirectory();
    server = await startTestServer({
      LEAF_DATA_DIR: directory,
      LEAF_DATABASE_URL: `sqlite:${directory}/leaf.sqlite`,
      LEAF_SNOWFLAKE_REGISTRY: 'mysql',
    });
    for (let i = 0; i < 50; i++) {
      await text(server.port, `/api/segment/get/${TAG}`);
      await text(server.port, '/api/snowflake/get/order');
    }
    await text(server.port, `/api/segment/range/${TAG}?size=5000`);
    await call(server.port, '/api/segment/get/no-such-tag');
    series = exposedSeries(await scrape(server.port));
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
    expect(readPromql('sum(rate(x[5m])').faults).not.toEqual([]);
    for (const [place, expression] of expressions) expect([place, readPromql(expression).faults]).toEqual([place, []]);
  });

  it('ask for metrics that a server has', () => {
    const recorded = new Set([...rules.map(({ record }) => record), ...ELSEWHERE]);
    const asked = expressions.flatMap(([, expression]) => readPromql(expression).metrics);
    const unknown = new Set(asked.filter((metric) => !series.has(metric) && !recorded.has(metric)));
    expect([...unknown]).toEqual([]);
  });

  it('ask for labels that these metrics have', () => {
    const wrong = expressions.filter(([, expression]) => {
      const { metrics, labels } = readPromql(expression);
      const seen = metrics.flatMap((metric) => [...(series.get(metric) ?? []), ...(LATER[metric] ?? [])]);
      const known = new Set([...TARGET_LABELS, ...seen]);
      return labels.some((label) => !known.has(label));
    });
    expect(wrong).toEqual([]);
  });
});
