import type { AdminApi, ListedTags, TagRow } from '../../api/admin-api';
import type { Outcome } from '../../api/problem';
import { loadRows } from './load-rows';

const PROBLEM = { status: 503, code: 'LEAF_OVERLOADED', title: 'Overloaded', detail: '' };

/** Pages of one row each; the page after the last is a failure when `fails`. */
function pages(count: number, fails = false): Pick<AdminApi, 'list'> {
  return {
    list: (query): Promise<Outcome<ListedTags>> => {
      const page = Number(query?.slice(1));
      if (fails && page === count) return Promise.resolve({ ok: false, problem: PROBLEM });
      const next = page + 1 < count || fails ? `?${page + 1}` : undefined;
      return Promise.resolve({ ok: true, value: { rows: [{ tag: `t${page}` } as TagRow], next } });
    },
  };
}

describe('loadRows', () => {
  let shown: number[];
  const show = (rows: readonly TagRow[]): void => void shown.push(rows.length);
  beforeEach(() => (shown = []));

  it('reads every page, and shows the rows a few times', async () => {
    expect(await loadRows(pages(10), show, new AbortController().signal)).toBeUndefined();
    expect(shown).toEqual([1, 2, 4, 8, 10]);
  });

  it('tells why it ended early', async () => {
    expect(await loadRows(pages(3, true), show, new AbortController().signal)).toEqual(PROBLEM);
    expect(shown).toEqual([1, 2]);
  });

  it('ends when nobody wants the rows any more', async () => {
    const abort = new AbortController();
    const showOnce = (rows: readonly TagRow[]): void => {
      show(rows);
      abort.abort();
    };
    const loading = loadRows(pages(10), showOnce, abort.signal);
    expect(await loading).toBeUndefined();
    expect(shown).toEqual([1]);
  });
});
