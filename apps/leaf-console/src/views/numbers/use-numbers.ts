import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Listed } from '../../api/admin-api';
import type { NumberRow, NumbersApi } from '../../api/numbers-api';
import type { Outcome, Problem } from '../../api/problem';
import { type Asked, queryOf, withNumber } from './number-rows';

interface Found {
  /** Undefined until the first page is loaded. */
  readonly rows: readonly NumberRow[] | undefined;
  /** The query of the next page; undefined if all are loaded. */
  readonly next: string | undefined;
  readonly problem: Problem | undefined;
}

interface Numbers extends Found {
  readonly loadMore: () => void;
  /** Applies the response of a change. */
  readonly put: (number: NumberRow) => void;
}

const NOTHING: Found = { rows: undefined, next: undefined, problem: undefined };

/** The numbers of a tag. Only the first page is loaded at once: there may be millions. */
export function useNumbers(api: NumbersApi, tag: string, asked: Asked): Numbers {
  const [found, setFound] = useState(NOTHING);
  const round = useRef(0);
  const load = useCallback(
    async (query: string): Promise<void> => {
      const own = ++round.current;
      const outcome = asked.key === '' ? await api.list(tag, query) : alone(await api.find(tag, asked.key));
      if (own !== round.current) return;
      setFound((known) => {
        if (!outcome.ok) return { ...known, problem: outcome.problem };
        const { rows, next } = outcome.value;
        return { rows: [...(known.rows ?? []), ...rows], next, problem: undefined };
      });
    },
    [api, tag, asked],
  );
  useEffect(() => {
    setFound(NOTHING);
    void load(queryOf(asked));
    return () => {
      round.current++;
    };
  }, [load, asked]);
  const loadMore = (): void => {
    if (found.next !== undefined) void load(found.next);
  };
  const put = (number: NumberRow): void =>
    setFound((known) => ({ ...known, rows: withNumber(known.rows ?? [], number) }));
  return { ...found, loadMore, put };
}

function alone(outcome: Outcome<NumberRow>): Outcome<Listed<NumberRow>> {
  return outcome.ok ? { ok: true, value: { rows: [outcome.value], next: undefined } } : outcome;
}
