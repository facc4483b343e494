import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { TagRow } from '../../api/admin-api';
import type { Problem } from '../../api/problem';
import { useConsole } from '../../state/context';
import { loadRows } from './load-rows';

export interface TagRows {
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
