import { useCallback, useEffect, useState } from 'preact/hooks';
import type { TagRow } from '../../api/admin-api';
import type { Problem } from '../../api/problem';
import { useConsole } from '../../state/context';

export interface TagRows {
  /** Sorted by name; undefined until loaded. */
  readonly rows: readonly TagRow[] | undefined;
  readonly problem: Problem | undefined;
  readonly reload: () => void;
  /** Applies the response of a change to the rows; null removes the row. */
  readonly put: (tag: string, row: TagRow | null) => void;
}

/** The rows of `leaf_alloc`, loaded once and then updated by changes on this page. */
export function useTagRows(): TagRows {
  const { admin } = useConsole();
  const [rows, setRows] = useState<readonly TagRow[] | undefined>(undefined);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const reload = useCallback(() => {
    void admin.list().then((outcome) => {
      setProblem(outcome.ok ? undefined : outcome.problem);
      if (outcome.ok) setRows(outcome.value);
    });
  }, [admin]);
  const put = useCallback((tag: string, row: TagRow | null) => {
    setRows((known = []) => [...known.filter((other) => other.tag !== tag), ...(row === null ? [] : [row])]);
  }, []);
  useEffect(reload, [reload]);
  return { rows, problem, reload, put };
}
