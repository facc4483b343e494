import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { AdminApi, TagRow } from '../../api/admin-api';
import type { Problem } from '../../api/problem';
import { useConsole } from '../../state/context';

interface TagRows {
  /** Undefined until the first page is loaded. */
  readonly rows: readonly TagRow[] | undefined;
  /** More pages are on their way. */
  readonly loading: boolean;
  readonly problem: Problem | undefined;
  readonly reload: () => void;
  /** Applies the response of a change to the rows; null removes the row. */
  readonly put: (tag: string, row: TagRow | null) => void;
}

/** The rows of `leaf_alloc`, loaded page by page and then updated by changes on this page. */
export function useTagRows(): TagRows {
  const { admin } = useConsole();
  const [rows, setRows] = useState<readonly TagRow[] | undefined>(undefined);
  const [loading, setLoading] = useState(true);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const current = useRef<AbortController | undefined>(undefined);
  /** Changes made here since the load under way began: its pages may be older. */
  const changes = useRef(new Map<string, TagRow | null>());
  const reload = useCallback(() => {
    current.current?.abort();
    const abort = new AbortController();
    current.current = abort;
    changes.current.clear();
    setLoading(true);
    setProblem(undefined);
    const show = (found: readonly TagRow[]): void => setRows(withChanges(found, changes.current));
    void loadRows(admin, show, abort.signal).then((failed) => {
      if (abort.signal.aborted) return;
      setLoading(false);
      setProblem(failed);
    });
  }, [admin]);
  const put = useCallback((tag: string, row: TagRow | null) => {
    changes.current.set(tag, row);
    setRows((known = []) => withChanges(known, new Map([[tag, row]])));
  }, []);
  useEffect(() => {
    reload();
    return () => current.current?.abort();
  }, [reload]);
  return { rows, loading, problem, reload, put };
}

function withChanges(rows: readonly TagRow[], changes: ReadonlyMap<string, TagRow | null>): readonly TagRow[] {
  if (changes.size === 0) return rows;
  const changed = [...changes.values()].filter((row) => row !== null);
  return [...rows.filter(({ tag }) => !changes.has(tag)), ...changed];
}

/**
 * Reads all pages of the tags, one after the other.
 *
 * @param show called with the rows read so far whenever they are twice as many as before, and with all rows at the end:
 *   the table sorts them each time
 * @returns why not all rows were read; undefined when they were
 */
export async function loadRows(
  admin: Pick<AdminApi, 'list'>,
  show: (rows: readonly TagRow[]) => void,
  signal: AbortSignal,
): Promise<Problem | undefined> {
  const rows: TagRow[] = [];
  let shown = 0;
  for (let query: string | undefined = ''; query !== undefined;) {
    const outcome = await admin.list(query);
    if (signal.aborted) return undefined;
    if (!outcome.ok) return outcome.problem;
    for (const row of outcome.value.rows) rows.push(row);
    query = outcome.value.next;
    if (query !== undefined && rows.length < 2 * shown) continue;
    shown = rows.length;
    show([...rows]);
  }
  return undefined;
}
