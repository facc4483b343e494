import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { WatchedTag } from '../../monitor/monitor-store';
import { useConsole, useMonitor } from '../../state/context';
import { Choice, Field } from '../../ui/field';
import { type Sorting, VirtualTable } from '../../ui/virtual-table';
import { useSegmentColumns } from './segment-columns';
import { type SegmentColumn, selectTags, type Shown } from './tag-order';

const ROW_HEIGHT = 46;
const NARROW_ROW_HEIGHT = 138;

export function SegmentsPage(): JSX.Element {
  const { t, format } = useConsole();
  const { segments, tags } = useMonitor();
  const [search, setSearch] = useState('');
  const [shown, setShown] = useState<Shown>('all');
  const [sorting, setSorting] = useState<Sorting<SegmentColumn>>({ by: 'tag', descending: false });
  const columns = useSegmentColumns(segments?.prefetchRatio ?? 0);
  if (segments?.enabled === false) return <p class="waiting">{t.modeOff(t.segmentMode)}</p>;
  const items = selectTags(tags.values(), search, shown, sorting);
  const sortable = columns.map(({ name, label }) => [name, label] as const);
  return (
    <section class="filling" aria-label={t.segments}>
      <div class="toolbar">
        <Field class="search" label={t.searchTags} type="search" value={search} onValue={setSearch} />
        <Choice
          label={t.show}
          value={shown}
          onValue={setShown}
          options={[
            ['all', t.showAll],
            ['loaded', t.showLoaded],
            ['busy', t.showBusy],
            ['trouble', t.showTrouble],
          ]}
        />
        <Choice
          class="narrow-only"
          label={t.sort}
          value={sorting.by}
          onValue={(by) => setSorting({ by, descending: by === 'rate' })}
          options={sortable}
        />
        <p class="count" role="status">
          {t.countOf(format.count(items.length), format.count(tags.size))}
        </p>
      </div>
      {items.length === 0 ? (
        <p class="waiting">{tags.size === 0 ? t.noTagsYet : t.noTags}</p>
      ) : (
        <VirtualTable<WatchedTag, SegmentColumn>
          label={t.segments}
          class="segments-table"
          items={items}
          keyOf={({ view }) => view.tag}
          columns={columns}
          rowHeight={ROW_HEIGHT}
          narrowRowHeight={NARROW_ROW_HEIGHT}
          sorting={sorting}
          onSort={setSorting}
          sortLabel={t.sortBy}
        />
      )}
    </section>
  );
}
