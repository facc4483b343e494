import type { JSX } from 'preact';
import type { OverviewView, PartStatus, PartView } from '../../monitor/views';
import { useConsole, useMonitor } from '../../state/context';
import { Exact } from '../../ui/exact';
import { SparkLine } from '../../ui/spark-line';
import { StatusDot } from '../../ui/status-dot';
import { hrefOf } from '../../state/route';
import { EmptyState } from '../../ui/empty-state';
import { StackedChart } from '../../ui/stacked-chart';
import { ServerCard } from './server-card';

/** A server that started recently has a shorter chart, so that its line fills the width. */
const SHORTEST_SECONDS = 120;

/** IDs per second by mode, over the last 15 minutes or since the server started. */
function RateChart({ overview }: { readonly overview: OverviewView }): JSX.Element {
  const { t, format } = useConsole();
  const { rate, history } = overview;
  const { segment, snowflake, endsAt, stepMs } = history;
  if (segment.length === 0) return <EmptyState icon="overview" title={t.chartEmpty} />;
  if (![...segment, ...snowflake].some((value) => value > 0)) {
    return (
      <EmptyState icon="overview" title={t.chartIdle}>
        <a href={hrefOf('try')}>{t.tryIt}</a> · <a href={hrefOf('tags')}>{t.tags}</a>
      </EmptyState>
    );
  }
  const times = segment.map((_value, index) => (endsAt - (segment.length - 1 - index) * stepMs) / 1000);
  return (
    <StackedChart
      summary={t.chartSummary(format.rate(rate.segment), format.rate(rate.snowflake))}
      times={times}
      spanSeconds={Math.max(SHORTEST_SECONDS, ((segment.length - 1) * stepMs) / 1000)}
      layers={[
        { label: t.segmentMode, colour: 'segment', values: segment },
        { label: t.snowflakeMode, colour: 'snowflake', values: snowflake },
      ]}
    />
  );
}

/** Fewer values would stretch a second of history over the whole line. */
const FEWEST_VALUES = 30;

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
  const rates = history.segment.map((value, index) => value + (history.snowflake[index] ?? 0));
  const capacity = Math.max(FEWEST_VALUES, rates.length);
  const latency = (value: number | undefined): string => (value === undefined ? '–' : format.milliseconds(value));
  return (
    <dl class="tiles overview-tiles">
      <div class="tile tile-main">
        <dt>{t.idsPerSecond}</dt>
        <dd>
          {format.rate(rate.segment + rate.snowflake)} <SparkLine values={rates} capacity={capacity} />
        </dd>
      </div>
      <div class="tile" title={t.errorsHint}>
        <dt>{t.errorsPerSecond}</dt>
        <dd class={errorRate > 0 ? 'is-down' : ''}>
          {format.rate(errorRate)} <SparkLine values={history.errors} capacity={capacity} />
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

/** Components and dependencies of the server, each with its status and reason. */
function PartsList({ parts }: { readonly parts: readonly PartView[] }): JSX.Element {
  const { t } = useConsole();
  const names: Readonly<Record<PartView['name'], string>> = {
    segment: t.partSegment,
    snowflake: t.partSnowflake,
    database: t.partDatabase,
    registry: t.partRegistry,
    clock: t.partClock,
    drain: t.partDrain,
  };
  const words: Readonly<Record<PartStatus, string>> = { up: t.up, degraded: t.degraded, down: t.down, off: t.off };
  return (
    <ul class="parts">
      {parts.map(({ name, status, description, reason }) => (
        <li key={name} data-part={name} data-status={status}>
          <StatusDot status={shown(name, status)} />
          <strong>{names[name]}</strong>
          <span class={`word word-${shown(name, status)}`}>{words[shown(name, status)]}</span>
          {description !== '' && <span class="part-description">{description}</span>}
          {reason !== null && <span class="part-reason">{reason}</span>}
        </li>
      ))}
    </ul>
  );
}

/** The inactive drain is shown as off, not as up. */
function shown(name: PartView['name'], status: PartStatus): PartStatus {
  return name === 'drain' && status === 'up' ? 'off' : status;
}
