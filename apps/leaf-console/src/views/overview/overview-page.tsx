import type { JSX } from 'preact';
import type { OverviewView } from '../../monitor/views';
import { useConsole, useMonitor } from '../../state/context';
import { Exact } from '../../ui/exact';
import { SparkLine } from '../../ui/spark-line';
import { PartsList } from './parts-list';
import { RateChart } from './rate-chart';
import { ServerCard } from './server-card';

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
