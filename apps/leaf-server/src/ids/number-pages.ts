import { type DocumentNumber, LeafError, type NumberAudit, type Numbers, type NumberState } from '@leaf-ids/core';
import { NUMBER_STATES } from '@leaf-ids/core/internal';
import { type Html, html } from '../http/responses/html';

/** Numbers that are read at a time. */
const PAGE = 500;

/** @throws LeafError `LEAF_REQUEST_INVALID` */
export function parseState(given: unknown): NumberState | undefined {
  const state = NUMBER_STATES.find((each) => each === given);
  if (given === undefined || state !== undefined) return state;
  throw invalid(`state must be one of ${NUMBER_STATES.join(', ')}`);
}

/** @throws LeafError `LEAF_REQUEST_INVALID` */
export function parseText(name: string, given: unknown): string | undefined {
  if (given === undefined || typeof given === 'string') return given;
  throw invalid(`${name} must be given once`);
}

/**
 * Refuses parameters of a route that has none: a date in the query would be ignored, and the number be of another period.
 *
 * @throws LeafError `LEAF_REQUEST_INVALID`
 */
export function assertNoQuery(query: Record<string, unknown>): void {
  const [name] = Object.keys(query);
  if (name === undefined) return;
  throw invalid(`this route has no parameter ${JSON.stringify(name.slice(0, 40))}; send "at" in the body`);
}

function invalid(rule: string): LeafError {
  return new LeafError('LEAF_REQUEST_INVALID', `The query is invalid: ${rule}.`);
}

/** All numbers of a period, page by page. */
async function* numbersOf(numbers: Numbers, { tag, period }: NumberAudit): AsyncGenerator<DocumentNumber[], void> {
  for (let after: DocumentNumber | undefined; ;) {
    const page = await numbers.list(tag, { period, after, limit: PAGE });
    yield page;
    if (page.length < PAGE) return;
    after = page.at(-1);
  }
}

const COLUMNS = ['number', 'text', 'key', 'state', 'issuedAt', 'issuedBy', 'settledAt', 'settledBy', 'reason'] as const;

/** The numbers of an audited period as CSV (RFC 4180). */
export async function* csvOf(numbers: Numbers, audit: NumberAudit): AsyncGenerator<string, void> {
  yield `${COLUMNS.join(',')}\r\n`;
  for await (const page of numbersOf(numbers, audit)) {
    yield page.map((number) => `${cellsOf(numbers, audit, number).map(csvCell).join(',')}\r\n`).join('');
  }
}

/**
 * An audit and its numbers, to be printed.
 *
 * @param auditedAt ISO 8601
 */
export async function* htmlOf(numbers: Numbers, audit: NumberAudit, auditedAt: string): AsyncGenerator<string, void> {
  const { tag, period, counts, contiguous, chronological, intact, fault, hash, first, last, missing } = audit;
  const title = `Numbers of ${tag}${period === '' ? '' : ` in ${period}`}`;
  const yesNo = (is: boolean): string => (is ? 'yes' : 'NO');
  const rows: [string, string | number][] = [
    ['first', String(first ?? '')],
    ['last', String(last ?? '')],
    ...Object.entries(counts),
    ['without a gap', yesNo(contiguous)],
    ...missing.map(({ from, to }): [string, string] => ['missing', from === to ? String(from) : `${from} to ${to}`]),
    ['in the order of time', yesNo(chronological)],
    ['journal intact', yesNo(intact)],
    ...(fault === undefined ? [] : ([['fault', `${fault.number ?? ''} ${fault.problem}`]] as [string, string][])),
    ['hash of the journal', hash],
    ['lines of the journal', audit.lines],
    ['lines that the key does not prove', audit.unverified],
    ['time of the audit', auditedAt],
  ];
  yield '<!doctype html><html lang="en"><meta charset="utf-8">';
  yield html`<title>${title}</title>`.text;
  yield html`<h1>${title}</h1>`.text;
  yield '<table>';
  for (const row of rows) yield rowOf(row.map(String)).text;
  yield '</table><h2>All numbers</h2><table border="1">';
  yield rowOf(COLUMNS).text;
  for await (const page of numbersOf(numbers, audit)) {
    yield page.map((number) => rowOf(cellsOf(numbers, audit, number)).text).join('');
  }
  yield '</table></html>';
}

function rowOf(cells: readonly string[]): Html {
  return html`<tr>
    ${cells.map((cell) => html`<td>${cell}</td>`)}
  </tr>`;
}

function cellsOf(numbers: Numbers, { tag }: NumberAudit, number: DocumentNumber): string[] {
  const json = numbers.jsonOf(tag, number);
  return COLUMNS.map((column) => json[column] ?? '');
}

/** Quoted; a program for tables must not take a key or a reason for a formula. */
function csvCell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
