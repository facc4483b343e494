import type { JSX } from 'preact';
import type { OverviewView } from '../../monitor/views';
import { useConsole, useMonitor } from '../../state/context';
import { Ago, Exact } from '../../ui/exact';
import { SparkLine } from '../../ui/spark-line';
import { StackedChart } from '../../ui/stacked-chart';
import { DrainControl } from './drain-control';
import { PartsList } from './parts-list';

const HISTORY_SECONDS = 15 * 60;

export function OverviewPage(): JSX.Element {
  const { t } = useConsole();
  const { overview } = useMonitor();
  if (overview === undefined) return <></>;
  return (
    <>
      <Tiles overview={overview} />
      <div class="columns">
        <section class="card chart-card" aria-label={t.chartTitle}>
          <h2>{t.chartTitle}</h2>
          <RateChart overview={overview} />
        </section>
        <section class="card" aria-label={t.parts}>
          <h2>{t.parts}</h2>
          <PartsList parts={overview.parts} />
        </section>
      </div>
      <ServerCard overview={overview} />
    </>
  );
}

function Tiles({ overview }: { readonly overview: OverviewView }): JSX.Element {
  const { t, format } = useConsole();
  const { rate, latencyMs, errorRate, issued, history } = overview;
  const total = issued.segment + issued.snowflake;
  const latency = (value: number | undefined): string => (value === undefined ? '–' : format.milliseconds(value));
  return (
    <dl class="tiles">
      <div class="tile tile-main">
        <dt>{t.idsPerSecond}</dt>
        <dd>{format.rate(rate.segment + rate.snowflake)}</dd>
      </div>
      <div class="tile" title={t.errorsHint}>
        <dt>{t.errorsPerSecond}</dt>
        <dd class={errorRate > 0 ? 'is-down' : ''}>
          {format.rate(errorRate)}{' '}
          <SparkLine values={history.errors} capacity={(HISTORY_SECONDS * 1000) / history.stepMs} />
        </dd>
      </div>
      {(['p50', 'p99', 'p999'] as const).map((name) => (
        <div key={name} class="tile" title={t.latencyHint}>
          <dt>{name === 'p999' ? 'p99.9' : name}</dt>
          <dd>{latency(latencyMs?.[name])}</dd>
        </div>
      ))}
      <div class="tile">
        <dt>{t.issuedSinceStart}</dt>
        <dd>
          <Exact exact={format.count(total)}>{format.short(total)}</Exact>
        </dd>
      </div>
    </dl>
  );
}

function RateChart({ overview }: { readonly overview: OverviewView }): JSX.Element {
  const { t, format } = useConsole();
  const { rate, history } = overview;
  const { segment, snowflake, endsAt, stepMs } = history;
  if (segment.length === 0) return <p class="waiting">{t.chartEmpty}</p>;
  const times = segment.map((_value, index) => (endsAt - (segment.length - 1 - index) * stepMs) / 1000);
  return (
    <StackedChart
      summary={t.chartSummary(format.rate(rate.segment), format.rate(rate.snowflake))}
      times={times}
      spanSeconds={HISTORY_SECONDS}
      layers={[
        { label: t.segmentMode, colour: 'segment', values: segment },
        { label: t.snowflakeMode, colour: 'snowflake', values: snowflake },
      ]}
    />
  );
}

function ServerCard({ overview }: { readonly overview: OverviewView }): JSX.Element {
  const { t, format } = useConsole();
  const store = useMonitor();
  const { name, version, instance, startedAt, issued } = overview;
  const facts: readonly (readonly [string, JSX.Element | string])[] = [
    [t.instance, `${name} · ${instance}`],
    [t.version, version],
    [t.uptime, format.span(store.now() - startedAt)],
    [t.started, <Ago at={startedAt} />],
    [`${t.issuedSinceStart}, ${t.segmentMode}`, format.count(issued.segment)],
    [`${t.issuedSinceStart}, ${t.snowflakeMode}`, format.count(issued.snowflake)],
  ];
  return (
    <section class="card" aria-label={t.server}>
      <h2>{t.server}</h2>
      <dl class="facts">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <DrainControl
        draining={overview.parts.some(({ name, status }) => name === 'drain' && status !== 'off' && status !== 'up')}
      />
    </section>
  );
}
