import type { NumberRow } from '../../api/numbers-api';
import type { Sorting } from '../../ui/virtual-table';

export type NumberColumn = 'number' | 'document' | 'issued' | 'settled' | 'actions';

/** What the page shows. */
export interface Asked {
  /** Empty: all. */
  readonly period: string;
  readonly state: NumberRow['state'];
  /** Empty: the numbers of the period and the state; otherwise only the number of this document. */
  readonly key: string;
}

/** The query of the first page. */
export function queryOf({ period, state }: Pick<Asked, 'period' | 'state'>): string {
  return `?${new URLSearchParams({ state, ...(period === '' ? {} : { period }) }).toString()}`;
}

/** Whether a path can have this key: the first two resolve to other paths, and the last is a route of its own. */
export function isKey(key: string): boolean {
  return !['.', '..', 'audit'].includes(key);
}

/** How people write the number. */
export function nameOf({ text, number }: NumberRow): string {
  return text ?? number;
}

const KEYS: Readonly<Record<Exclude<NumberColumn, 'actions'>, (row: NumberRow) => string>> = {
  number: ({ period = '', number }) => `${period}~${number.padStart(19, '0')}`,
  document: ({ key }) => key,
  issued: ({ issuedAt }) => issuedAt,
  settled: ({ settledAt = '' }) => settledAt,
};

/** The oldest or lowest first, or last; ties are sorted by number. */
export function sortNumbers(rows: readonly NumberRow[], { by, descending }: Sorting<NumberColumn>): NumberRow[] {
  const key = KEYS[by === 'actions' ? 'number' : by];
  const sign = descending ? -1 : 1;
  return rows
    .map((row) => [`${key(row)}\n${KEYS.number(row)}`, row] as const)
    .sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0))
    .map(([, row]) => row);
}

/** The rows with the new state of one of them. */
export function withNumber(rows: readonly NumberRow[], changed: NumberRow): NumberRow[] {
  return rows.map((row) => (row.key === changed.key ? changed : row));
}
