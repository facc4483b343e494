import type { JSX } from 'preact';
import type { TagRow } from '../../api/admin-api';
import { useConsole, useMonitor } from '../../state/context';
import { Ago } from '../../ui/exact';
import type { Column, Sorting } from '../../ui/virtual-table';
import { SettingBadges } from './tag-settings';

export type TagColumn = 'tag' | 'maxId' | 'step' | 'description' | 'updated' | 'state' | 'actions';

export interface TagActs {
  readonly edit: (row: TagRow) => void;
  readonly remove: (row: TagRow) => void;
  readonly setPaused: (row: TagRow, paused: boolean) => void;
}

export function useTagColumns(acts: TagActs): Column<TagRow, TagColumn>[] {
  const { t, format } = useConsole();
  return [
    {
      name: 'tag',
      label: t.tag,
      cell: ({ tag }) => (
        <span class="tag-name" title={tag}>
          {tag}
        </span>
      ),
    },
    { name: 'maxId', label: t.maxId, cell: ({ maxId }) => <span class="num">{maxId}</span> },
    {
      name: 'step',
      label: t.stepColumn,
      cell: ({ order, step }) => <span class="num">{order === 'gapless' ? '–' : format.count(step)}</span>,
    },
    {
      name: 'description',
      label: t.descriptionColumn,
      cell: (row) => (
        <span class="ellipsis" title={row.description}>
          <SettingBadges row={row} />
          <EndBadge row={row} />
          {row.description}
        </span>
      ),
    },
    { name: 'updated', label: t.updated, cell: ({ updatedAt }) => <Ago at={Date.parse(updatedAt)} /> },
    { name: 'state', label: t.state, sortable: false, cell: ({ tag }) => <ServingState tag={tag} /> },
    {
      name: 'actions',
      label: t.actions,
      sortable: false,
      cell: (row) => <Actions row={row} acts={acts} />,
    },
  ];
}

/** When the tag runs out of IDs. */
function EndBadge({ row: { endsAt } }: { readonly row: TagRow }): JSX.Element | null {
  const { t, format } = useConsole();
  const store = useMonitor();
  if (endsAt === undefined) return null;
  const at = Date.parse(endsAt);
  return (
    <span class="badge badge-plain setting" title={format.local(at)}>
      {t.endsBadge(format.ago(at, store.now()))}
    </span>
  );
}

function usePaused(tag: string): boolean {
  return useMonitor().tags.get(tag)?.view.paused ?? false;
}

function ServingState({ tag }: { readonly tag: string }): JSX.Element {
  const { t } = useConsole();
  return usePaused(tag) ? <span class="badge">{t.paused}</span> : <span class="soft">{t.serving}</span>;
}

function Actions({ row, acts }: { readonly row: TagRow; readonly acts: TagActs }): JSX.Element {
  const { t } = useConsole();
  const paused = usePaused(row.tag);
  const { tag } = row;
  return (
    <span class="acts">
      <button type="button" class="quiet" aria-label={t.editTag(tag)} onClick={() => acts.edit(row)}>
        {t.edit}
      </button>
      <button
        type="button"
        class="quiet"
        aria-label={paused ? t.resumeTag(tag) : t.pauseTag(tag)}
        onClick={() => acts.setPaused(row, !paused)}
      >
        {paused ? t.resume : t.pause}
      </button>
      <button type="button" class="quiet danger" aria-label={t.removeTag(tag)} onClick={() => acts.remove(row)}>
        {t.remove}
      </button>
    </span>
  );
}

type Key = string | number | bigint;

const KEYS: Readonly<Record<Exclude<TagColumn, 'actions' | 'state'>, (row: TagRow) => Key>> = {
  tag: ({ tag }) => tag,
  maxId: ({ maxId }) => BigInt(maxId),
  step: ({ step }) => step,
  description: ({ description }) => description.toLowerCase(),
  updated: ({ updatedAt }) => -Date.parse(updatedAt),
};

/** Rows whose name or description contains `search`, sorted. */
export function selectRows(rows: readonly TagRow[], search: string, { by, descending }: Sorting<TagColumn>): TagRow[] {
  const wanted = search.trim().toLowerCase();
  const key = KEYS[by === 'actions' || by === 'state' ? 'tag' : by];
  const sign = descending ? -1 : 1;
  return rows
    .filter(({ tag, description }) => `${tag}\n${description}`.toLowerCase().includes(wanted))
    .map((row) => [key(row), row] as const)
    .sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0))
    .map(([, row]) => row);
}
