import type { JSX } from 'preact';
import { useCallback, useMemo, useState } from 'preact/hooks';
import { useClusterMessages } from '../../i18n/cluster/messages';
import type { ClusterWorker, ClusterWorkers } from '../../monitor/views';
import { useConsole, useMonitor } from '../../state/context';
import { EmptyState } from '../../ui/empty-state';
import { Exact } from '../../ui/exact';
import { Field } from '../../ui/field';
import { ProblemNote } from '../../ui/note';
import { type Sorting, VirtualTable } from '../../ui/virtual-table';
import { usePolled } from './use-polled';
import './worker-map.css';
import { WorkerMap } from './worker-map';
import {
  countKinds,
  kindOf,
  MAX_SQUARES,
  selectWorkers,
  type Square,
  SQUARE_KINDS,
  type SquareKind,
  squaresOf,
  type WorkerColumn,
} from './worker-squares';

/** Interval between two requests, in milliseconds. */
const EVERY_MS = 3000;
const ROW_HEIGHT = 38;
const NARROW_ROW_HEIGHT = 96;

/** The holders of the worker IDs, as a map and as a table. */
export function WorkersView(): JSX.Element {
  const { t, format } = useConsole();
  const c = useClusterMessages();
  const { snowflake } = useMonitor();
  const { answer, at, problem } = usePolled<ClusterWorkers>('api/cluster/workers', EVERY_MS);
  const squares = useMemo(() => (answer === undefined ? [] : squaresOf(answer)), [answer]);
  const describe = useDescription();
  if (answer === undefined) return problem ? <ProblemNote problem={problem} /> : <p class="waiting">{c.loading}</p>;
  if (answer.workerIds === 0) return <EmptyState icon="snowflake" title={t.modeOff(t.snowflakeMode)} />;
  const title = c.mapTitle(format.count(answer.workerIds));
  return (
    <>
      {problem !== undefined && (
        <p role="alert" class="note note-down">
          {c.answerOld(format.clock(at))}
        </p>
      )}
      <div class="map-columns">
        <section class="card map-card" aria-label={title}>
          <h2>{title}</h2>
          <KindLegend answer={answer} />
          {answer.workerIds > MAX_SQUARES ? (
            <p class="soft">{c.tooManyToDraw(format.count(answer.workerIds))}</p>
          ) : (
            <WorkerMap
              label={title}
              squares={squares}
              own={snowflake?.worker?.workerId ?? undefined}
              describe={describe}
            />
          )}
        </section>
        <WorkersTable answer={answer} />
      </div>
    </>
  );
}

function useKindWords(): Readonly<Record<SquareKind, string>> {
  const c = useClusterMessages();
  return {
    server: c.kindServer,
    window: c.kindWindow,
    expired: c.kindExpired,
    released: c.kindReleased,
    free: c.kindFree,
  };
}

/** A square in words. */
function useDescription(): (square: Square) => string {
  const { format } = useConsole();
  const c = useClusterMessages();
  return useCallback(
    ({ workerId, kind, record }: Square): string => {
      const id = String(workerId);
      if (record === undefined) return c.squareFree(id);
      const until = format.seconds(record.ceiling);
      if (kind === 'expired') return c.squareExpired(id, record.holder, until);
      if (kind === 'released') return c.squareReleased(id, record.holder, until);
      return c.squareHeld(id, kind === 'window' ? c.kindWindow : c.kindServer, record.holder, until);
    },
    [c, format],
  );
}

function KindLegend({ answer }: { readonly answer: ClusterWorkers }): JSX.Element {
  const { format } = useConsole();
  const words = useKindWords();
  const counts = countKinds(answer);
  return (
    <ul class="legend">
      {SQUARE_KINDS.map((kind) => (
        <li key={kind}>
          <span class={`square square-${kind}`} aria-hidden="true" /> {words[kind]} <b>{format.count(counts[kind])}</b>
        </li>
      ))}
    </ul>
  );
}

function WorkersTable({ answer: { workers, now } }: { readonly answer: ClusterWorkers }): JSX.Element {
  const { t, format } = useConsole();
  const c = useClusterMessages();
  const words = useKindWords();
  const [search, setSearch] = useState('');
  const [sorting, setSorting] = useState<Sorting<WorkerColumn>>({ by: 'workerId', descending: false });
  if (workers.length === 0) return <EmptyState icon="snowflake" title={c.noneRecorded} />;
  const items = selectWorkers(workers, search, sorting);
  return (
    <section class="map-table" aria-label={c.recorded}>
      <div class="toolbar">
        <Field class="search" label={c.searchWorkers} type="search" value={search} onValue={setSearch} />
        <p class="count" role="status">
          {c.workersCount(format.count(items.length), format.count(workers.length))}
        </p>
      </div>
      <VirtualTable<ClusterWorker, WorkerColumn>
        label={c.recorded}
        class="workers-table"
        items={items}
        keyOf={({ workerId }) => String(workerId)}
        columns={[
          { name: 'workerId', label: c.worker, cell: ({ workerId }) => <span class="num">{workerId}</span> },
          {
            name: 'kind',
            label: c.kind,
            cell: (record) => (
              <>
                <span class={`square square-${kindOf(record)}`} aria-hidden="true" /> {words[kindOf(record)]}
              </>
            ),
          },
          {
            name: 'holder',
            label: c.holder,
            cell: ({ holder }) => (
              <span class="ellipsis" title={holder}>
                {holder}
              </span>
            ),
          },
          {
            name: 'until',
            label: c.until,
            cell: ({ ceiling }) => <Exact exact={format.local(ceiling)}>{format.ago(ceiling, now)}</Exact>,
          },
        ]}
        rowHeight={ROW_HEIGHT}
        narrowRowHeight={NARROW_ROW_HEIGHT}
        sorting={sorting}
        onSort={setSorting}
        sortLabel={t.sortBy}
      />
    </section>
  );
}
