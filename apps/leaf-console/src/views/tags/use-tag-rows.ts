import { useCallback, useEffect, useState } from 'preact/hooks';
import type { TagRow } from '../../api/admin-api';
import type { Problem } from '../../api/problem';
import { useConsole } from '../../state/context';

export interface TagRows {
  /** By name; undefined until they have come. */
  readonly rows: readonly TagRow[] | undefined;
  readonly problem: Problem | undefined;
  readonly reload: () => void;
  /** Writes the answer to a change into what is shown; null takes the row away. */
  readonly put: (tag: string, row: TagRow | null) => void;
}

/** The rows of `leaf_alloc`, read once and then kept up by the changes made here. */
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
