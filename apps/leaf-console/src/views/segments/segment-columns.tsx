import type { JSX } from 'preact';
import type { WatchedTag } from '../../monitor/monitor-store';
import { SECONDS } from '../../monitor/rate-history';
import type { MonitorTag } from '../../monitor/views';
import { useConsole, useMonitor } from '../../state/context';
import { Ago } from '../../ui/exact';
import { SparkLine } from '../../ui/spark-line';
import type { Column } from '../../ui/virtual-table';
import { BufferBar } from './buffer-bar';
import { urgencyOf } from './buffer-shape';
import type { SegmentColumn } from './tag-order';

export function useSegmentColumns(prefetchRatio: number): Column<WatchedTag, SegmentColumn>[] {
  const { t, format } = useConsole();
  return [
    { name: 'tag', label: t.tag, cell: ({ view }) => <TagName view={view} /> },
    { name: 'rate', label: t.rate, hint: t.rateHint, cell: (tag) => <Rate tag={tag} /> },
    {
      name: 'buffer',
      label: t.buffer,
      hint: t.bufferHint,
      cell: ({ view }) =>
        view.strict ? (
          <span class="soft">{t.notBuffered}</span>
        ) : (
          <BufferBar view={view} prefetchRatio={prefetchRatio} />
        ),
    },
    {
      name: 'step',
      label: t.step,
      hint: t.stepHint,
      cell: ({ view: { step, databaseStep } }) =>
        step === 0 ? (
          '–'
        ) : (
          <span class="num">
            {format.count(step)} <span class="soft">({databaseStep === 0 ? '–' : format.count(databaseStep)})</span>
          </span>
        ),
    },
    {
      name: 'lasts',
      label: t.lasts,
      hint: t.lastsHint,
      cell: ({ view: { strict, lastsMs } }) => (
        <span class={`num lasts-${urgencyOf(lastsMs)}`}>
          {strict ? '–' : lastsMs === null ? t.idle : format.span(lastsMs)}
        </span>
      ),
    },
    { name: 'load', label: t.lastLoad, cell: ({ view }) => <LastLoad view={view} /> },
  ];
}

function TagName({ view }: { readonly view: MonitorTag }): JSX.Element {
  const { t } = useConsole();
  return (
    <>
      <span class="tag-name" title={view.tag}>
        {view.tag}
      </span>
      {view.strict && (
        <span class="badge" title={t.strictHint}>
          {t.strict}
        </span>
      )}
      {view.period !== null && (
        <span class="badge" title={t.periodHint}>
          {view.period}
        </span>
      )}
      {view.paused && <span class="badge">{t.paused}</span>}
    </>
  );
}

function Rate({ tag }: { readonly tag: WatchedTag }): JSX.Element {
  const { format } = useConsole();
  const store = useMonitor();
  return (
    <span class="rate">
      <span class="num">{format.rate(tag.view.rate)}</span>
      <SparkLine values={tag.rates.values(store.now())} capacity={SECONDS - 1} />
    </span>
  );
}

function LastLoad({ view: { lastLoad } }: { readonly view: MonitorTag }): JSX.Element {
  const { t, format } = useConsole();
  const { at, ms, error } = lastLoad;
  if (error !== null) {
    return (
      <span class="exact exact-end is-down" tabIndex={0} data-exact={error}>
        ✗ {t.failed}
        <span class="unseen">: {error}</span>
      </span>
    );
  }
  if (at === null) return <span class="soft">{t.never}</span>;
  return (
    <span class="load">
      <span class="num" title={ms === null ? '' : t.loadTook(format.milliseconds(ms))}>
        {ms === null ? '' : `${format.milliseconds(ms)} `}
        <span aria-hidden="true">✓</span>
      </span>{' '}
      <Ago at={at} />
    </span>
  );
}
