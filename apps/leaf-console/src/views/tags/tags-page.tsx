import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { TagRow } from '../../api/admin-api';
import type { Problem } from '../../api/problem';
import { useConsole, useMonitor } from '../../state/context';
import { Field } from '../../ui/field';
import { DoneNote, ProblemNote } from '../../ui/note';
import { TokenControl } from '../../ui/token-control';
import { type Sorting, VirtualTable } from '../../ui/virtual-table';
import { CreateDialog, EditDialog, RemoveDialog } from './tag-dialogs';
import { selectRows, type TagColumn, useTagColumns } from './tag-columns';
import { useTagRows } from './use-tag-rows';

const ROW_HEIGHT = 44;
const NARROW_ROW_HEIGHT = 136;

type Act = { readonly kind: 'create' } | { readonly kind: 'edit' | 'remove'; readonly row: TagRow };

export function TagsPage(): JSX.Element {
  const { t, format, admin } = useConsole();
  const { segments } = useMonitor();
  const { rows, loading, problem, reload, put } = useTagRows();
  const [search, setSearch] = useState('');
  const [sorting, setSorting] = useState<Sorting<TagColumn>>({ by: 'tag', descending: false });
  const [act, setAct] = useState<Act | undefined>(undefined);
  const [done, setDone] = useState('');
  const [failed, setFailed] = useState<Problem | undefined>(undefined);
  const begin = (next: Act): void => {
    setDone('');
    setFailed(undefined);
    setAct(next);
  };
  const finish = (tag: string, row: TagRow | null, words: string): void => {
    put(tag, row);
    setAct(undefined);
    setDone(words);
  };
  const setPaused = async ({ tag }: TagRow, paused: boolean): Promise<void> => {
    setDone('');
    setFailed(undefined);
    const outcome = await admin.setPaused(tag, paused);
    if (outcome.ok) setDone(paused ? t.pausedNow(tag) : t.resumedNow(tag));
    else setFailed(outcome.problem);
  };
  const columns = useTagColumns({
    edit: (row) => begin({ kind: 'edit', row }),
    remove: (row) => begin({ kind: 'remove', row }),
    setPaused: (row, paused) => void setPaused(row, paused),
  });
  if (segments?.enabled === false) return <p class="waiting">{t.modeOff(t.segmentMode)}</p>;
  const items = selectRows(rows ?? [], search, sorting);
  const close = (): void => setAct(undefined);
  return (
    <section class="filling" aria-label={t.tags}>
      <TokenControl />
      <div class="toolbar">
        <Field class="search" label={t.searchTags} type="search" value={search} onValue={setSearch} />
        <button type="button" class="main" onClick={() => begin({ kind: 'create' })}>
          {t.newTag}
        </button>
        <button type="button" class="quiet" onClick={reload}>
          {t.reload}
        </button>
        <p class="count" role="status">
          {!loading && t.countOf(format.count(items.length), format.count(rows?.length ?? 0))}
        </p>
      </div>
      <DoneNote text={done} />
      <ProblemNote problem={failed ?? problem} />
      {loading && <p class="waiting">{t.loadingTags}</p>}
      {rows !== undefined && (
        <VirtualTable<TagRow, TagColumn>
          label={t.tags}
          class="tags-table"
          items={items}
          keyOf={({ tag }) => tag}
          columns={columns}
          rowHeight={ROW_HEIGHT}
          narrowRowHeight={NARROW_ROW_HEIGHT}
          sorting={sorting}
          onSort={setSorting}
          sortLabel={t.sortBy}
        />
      )}
      {act?.kind === 'create' && (
        <CreateDialog onClose={close} onDone={(row) => finish(row.tag, row, t.created(row.tag))} />
      )}
      {act?.kind === 'edit' && (
        <EditDialog row={act.row} onClose={close} onDone={(row) => finish(row.tag, row, t.saved(row.tag))} />
      )}
      {act?.kind === 'remove' && (
        <RemoveDialog row={act.row} onClose={close} onDone={() => finish(act.row.tag, null, t.removed(act.row.tag))} />
      )}
    </section>
  );
}
