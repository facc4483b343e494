import { createHash } from 'node:crypto';
import { check, type Operation } from '../strict/checker';

/** A document that got a number, as its caller remembers it. */
export interface Given {
  readonly caller: string;
  readonly key: string;
  readonly period: string;
  readonly number: number;
  /** Nanoseconds of one machine's monotonic clock. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Whether the number was new with this call. */
  readonly isNew: boolean;
}

/** A row of `leaf_number`, as the driver returns it. */
export interface StoredNumber {
  readonly doc_key: string;
  readonly period: string;
  readonly number: number | string;
  readonly state: string;
  readonly issued_at: number | string;
}

/** A row of `leaf_number_journal`. */
export interface StoredLine {
  readonly period: string;
  readonly position: number | string;
  readonly event: string;
  readonly number: number | string;
  readonly turn: number;
  readonly doc_key: string;
  readonly at_time: number | string;
  readonly by_name: string;
  readonly reason: string | null;
  readonly hash: string;
}

export interface History {
  readonly tag: string;
  readonly given: readonly Given[];
  /** Documents of the application that are committed: key → number. */
  readonly documents: ReadonlyMap<string, number>;
  readonly numbers: readonly StoredNumber[];
  readonly lines: readonly StoredLine[];
}

/**
 * What is wrong with a history, in words; empty if nothing is. It knows what the callers got and what the tables have,
 * and nothing of the code between them.
 */
export function faultsOf(history: History): string[] {
  const periods = new Set(history.numbers.map(({ period }) => period));
  return [
    ...Array.from(periods, (period) => gapsOf(history, period)).flat(),
    ...keysOf(history),
    ...Array.from(periods, (period) => orderOf(history, period)).flat(),
    ...chainOf(history),
  ];
}

function gapsOf({ numbers }: History, period: string): string[] {
  const own = numbers.filter((row) => row.period === period).map(({ number }) => Number(number));
  own.sort((a, b) => a - b);
  return own.flatMap((number, index) => {
    const expected = (own[index - 1] ?? 0) + 1;
    if (number === expected) return [];
    return [
      number < expected ? `${period}: ${number} is given twice` : `${period}: ${expected} to ${number - 1} are missing`,
    ];
  });
}

function keysOf({ given, documents, numbers }: History): string[] {
  const stored = new Map(numbers.map((row) => [row.doc_key, row]));
  const faults: string[] = [];
  if (stored.size !== numbers.length) faults.push('a key has two rows');
  for (const { caller, key, period, number } of given) {
    const row = stored.get(key);
    if (row?.period === period && Number(row.number) === number) continue;
    faults.push(
      `${caller} got ${number} in ${period} for ${key}, the table has ${row?.number ?? 'nothing'} in ${row?.period}`,
    );
  }
  for (const [key, number] of documents) {
    if (Number(stored.get(key)?.number) !== number)
      faults.push(`the document ${key} has ${number}, its row ${stored.get(key)?.number}`);
  }
  return faults;
}

/** The dates ascend with the numbers, and so do the calls that gave them. */
function orderOf({ given, numbers }: History, period: string): string[] {
  const rows = numbers.filter((row) => row.period === period).sort((a, b) => Number(a.number) - Number(b.number));
  const faults = rows.flatMap(({ number, issued_at }, index) =>
    Number(issued_at) < Number(rows[index - 1]?.issued_at ?? 0)
      ? [`${period}: ${number} is older than the one before`]
      : [],
  );
  const operations = given.flatMap(({ caller, startedAt, endedAt, number, isNew, ...rest }): Operation[] =>
    isNew && rest.period === period ? [{ caller, startedAt, endedAt, from: number, to: number }] : [],
  );
  const { violations } = check(operations);
  return [
    ...faults,
    ...violations.map(({ earlier, later }) => `${period}: ${later.from} began after the end of ${earlier.to}`),
  ];
}

function chainOf({ tag, numbers, lines }: History): string[] {
  const faults: string[] = [];
  const issued = new Set<string>();
  const last = new Map<string, { readonly position: number; readonly hash: string }>();
  const inOrder = [...lines].sort((a, b) => Number(a.position) - Number(b.position));
  for (const { period, position, event, number, turn, doc_key, at_time, by_name, reason, hash } of inOrder) {
    const before = last.get(period) ?? { position: 0, hash: '' };
    const line = [period, Number(position), event, String(number), turn, doc_key, Number(at_time), by_name, reason];
    const expected = createHash('sha256')
      .update(JSON.stringify([before.hash, tag, ...line]))
      .digest('hex');
    if (Number(position) !== before.position + 1 || hash !== expected)
      faults.push(`${period}: line ${position} is wrong`);
    last.set(period, { position: Number(position), hash });
    if (event === 'issued') issued.add(`${period} ${number} ${doc_key}`);
  }
  for (const { period, number, doc_key } of numbers) {
    if (!issued.delete(`${period} ${number} ${doc_key}`)) faults.push(`${period}: ${number} is not in the journal`);
  }
  return [...faults, ...Array.from(issued, (line) => `${line} is in the journal alone`)];
}
