import type { JSX } from 'preact';
import type { OverviewView } from '../../monitor/views';
import { useConsole } from '../../state/context';
import { hrefOf } from '../../state/route';
import { EmptyState } from '../../ui/empty-state';
import { StackedChart } from '../../ui/stacked-chart';

/** A server that started recently has a shorter chart, so that its line fills the width. */
const SHORTEST_SECONDS = 120;

/** IDs per second by mode, over the last 15 minutes or since the server started. */
export function RateChart({ overview }: { readonly overview: OverviewView }): JSX.Element {
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
