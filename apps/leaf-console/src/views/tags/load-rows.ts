import type { AdminApi, TagRow } from '../../api/admin-api';
import type { Problem } from '../../api/problem';

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
