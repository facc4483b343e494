import { type IdRange, MAX_ID } from '../segment/tags/id-range';
import type { DocumentNumber, GaplessSettings, NumberState } from './document-number';
import type { JournalEntry } from './number-journal';
import type { NumberStore } from './number-store';

/** What an audit of one period has found. */
export interface NumberAudit {
  readonly tag: string;
  /** Empty for a tag without periods. */
  readonly period: string;
  /** Undefined without a number. */
  readonly first: bigint | undefined;
  readonly last: bigint | undefined;
  readonly counts: Readonly<Record<NumberState, number>>;
  /** Whether every number from the first of the tag to the last has a document or a reason. */
  readonly contiguous: boolean;
  /** The numbers without a row; the first {@link MAX_MISSING} ranges. */
  readonly missing: readonly IdRange[];
  /** Whether no number was issued before a lower one. */
  readonly chronological: boolean;
  /** Lines of the journal that were checked. */
  readonly lines: number;
  /** Lines that were sealed with a key that this program lacks. */
  readonly unverified: number;
  /** Hash of the last line: whoever keeps it can prove later that nothing before it was changed. */
  readonly hash: string;
  /** Whether the journal is whole and says what the rows say. */
  readonly intact: boolean;
  /** The first place where it does not. */
  readonly fault: AuditFault | undefined;
}

export interface AuditFault {
  readonly number: bigint | undefined;
  /** Of the line of the journal. */
  readonly position: number | undefined;
  readonly problem: string;
}

/** Ranges of {@link NumberAudit.missing}. */
const MAX_MISSING = 1000;
/** Lines, or numbers, that are in memory at a time. */
const PAGE = 1000;
/** Readings of a number that differs from its lines. */
const READINGS = 5;

/**
 * Checks the journal of a period line by line, and each number against its lines. Numbers that are issued meanwhile are
 * not part of it. Takes the same memory for any count of numbers.
 *
 * @param assertOpen throws when the audit has to end
 */
export async function auditNumbers(
  store: NumberStore,
  tag: string,
  period: string,
  { first }: GaplessSettings,
  assertOpen: () => void,
): Promise<NumberAudit> {
  const head = (await store.headOf(tag, period)) ?? { next: first, position: 0, hash: '' };
  const chain = await checkChain(store, tag, period, head, assertOpen);
  const sum = new Sum();
  for (let from = first; from < head.next; from += BigInt(PAGE)) {
    assertOpen();
    const end = from + BigInt(PAGE) - 1n;
    await checkPage(store, sum, tag, period, { from, to: end < head.next ? end : head.next - 1n });
  }
  const [stray] = await store.rowsOf(tag, period, head.next, MAX_ID, 1);
  const after = await store.headOf(tag, period);
  if (stray !== undefined && stray.number >= (after?.next ?? first)) sum.note(stray.number, NOT_IN_JOURNAL);
  const fault = earlier(chain.fault, sum.fault);
  const { counts, missing, chronological, last } = sum;
  return {
    ...{ tag, period, counts, missing, chronological, last, fault },
    first: sum.first,
    contiguous: missing.length === 0,
    lines: chain.lines,
    unverified: chain.unverified,
    hash: head.hash,
    intact: fault === undefined,
  };
}

const NOT_IN_JOURNAL = 'its row is not in the journal: it was inserted by other means';

interface Chain {
  lines: number;
  unverified: number;
  fault: AuditFault | undefined;
}

async function checkChain(
  store: NumberStore,
  tag: string,
  period: string,
  head: { readonly position: number; readonly hash: string },
  assertOpen: () => void,
): Promise<Chain> {
  const chain: Chain = { lines: 0, unverified: 0, fault: undefined };
  let previous = '';
  const fail = (problem: string, line?: JournalEntry): Chain => {
    const position = line?.position ?? chain.lines + 1;
    return { ...chain, fault: { number: line?.number, position, problem } };
  };
  while (chain.lines < head.position) {
    assertOpen();
    const page = await store.journal(tag, period, chain.lines, Math.min(PAGE, head.position - chain.lines));
    for (const line of page) {
      if (line.position !== chain.lines + 1) return fail('lines of the journal before this one are missing', line);
      const isIntact = store.seal.isIntact(previous, tag, line);
      if (isIntact === false) return fail('the line of the journal was changed, or one before it was removed', line);
      chain.lines++;
      if (isIntact === undefined) chain.unverified++;
      previous = line.hash;
    }
    if (page.length === 0) return fail('the last lines of the journal are missing');
  }
  return previous === head.hash ? chain : fail('the last line of the journal is not the one that was written last');
}

/** What is known of the numbers so far. */
class Sum {
  readonly counts: Record<NumberState, number> = { issued: 0, confirmed: 0, void: 0, reissued: 0 };
  readonly missing: IdRange[] = [];
  chronological = true;
  first: bigint | undefined;
  last: bigint | undefined;
  fault: AuditFault | undefined;
  private issuedAt = 0;

  add({ number, state, issuedAt }: DocumentNumber): void {
    this.counts[state]++;
    this.first ??= number;
    this.last = number;
    if (issuedAt < this.issuedAt) this.chronological = false;
    this.issuedAt = issuedAt;
  }

  noteMissing(number: bigint): void {
    const last = this.missing.at(-1);
    if (last?.to === number - 1n) this.missing[this.missing.length - 1] = { from: last.from, to: number };
    else if (this.missing.length < MAX_MISSING) this.missing.push({ from: number, to: number });
  }

  note(number: bigint, problem: string): void {
    this.fault ??= { number, position: undefined, problem };
  }
}

async function checkPage(store: NumberStore, sum: Sum, tag: string, period: string, range: IdRange): Promise<void> {
  const { from, to } = range;
  const read = async (
    first: bigint,
    last: bigint,
  ): Promise<[Map<bigint, DocumentNumber[]>, Map<bigint, JournalEntry[]>]> => [
    groupByNumber(await store.rowsOf(tag, period, first, last, Infinity)),
    groupByNumber(await store.linesOf(tag, period, first, last)),
  ];
  const [rows, lines] = await read(from, to);
  for (let number = from; number <= to; number++) {
    let problem = differenceOf(rows.get(number) ?? [], lines.get(number) ?? []);
    // It may have been settled between the two reads. After a fault, none of the others needs to be certain.
    for (let reading = 1; problem !== undefined && sum.fault === undefined && reading < READINGS; reading++) {
      const [row, line] = await read(number, number);
      rows.set(number, row.get(number) ?? []);
      problem = differenceOf(row.get(number) ?? [], line.get(number) ?? []);
    }
    const found = rows.get(number) ?? [];
    if (found.length === 0) sum.noteMissing(number);
    for (const row of found) sum.add(row);
    if (problem !== undefined) sum.note(number, problem);
  }
}

function groupByNumber<Item extends { readonly number: bigint }>(items: readonly Item[]): Map<bigint, Item[]> {
  const groups = new Map<bigint, Item[]>();
  for (const item of items) {
    const group = groups.get(item.number);
    if (group === undefined) groups.set(item.number, [item]);
    else group.push(item);
  }
  return groups;
}

/** What the rows of a number and its lines say differently; undefined: nothing. */
function differenceOf(rows: readonly DocumentNumber[], lines: readonly JournalEntry[]): string | undefined {
  const told: DocumentNumber[] = [];
  for (const { event, number, turn, key, at, by, reason, period } of lines) {
    const last = told.at(-1);
    if (event === 'issued') {
      if (last !== undefined) told[told.length - 1] = { ...last, state: 'reissued' };
      const open = { settledAt: undefined, settledBy: undefined, reason: undefined };
      told.push({ key, period, number, turn, state: 'issued', issuedAt: at, issuedBy: by, ...open });
    } else if (last !== undefined) {
      told[told.length - 1] = { ...last, state: event, settledAt: at, settledBy: by, reason };
    }
  }
  if (rows.length === 0 && told.length === 0) return 'neither a row nor the journal has it';
  if (rows.length < told.length) return `the row of the document ${JSON.stringify(told[rows.length]?.key)} is missing`;
  if (rows.length > told.length) return NOT_IN_JOURNAL;
  const index = rows.findIndex((row, place) => !isSame(row, told[place]));
  return index < 0 ? undefined : `its row says ${described(rows[index])}, the journal ${described(told[index])}`;
}

const COMPARED = ['key', 'turn', 'state', 'issuedAt', 'issuedBy', 'settledAt', 'settledBy', 'reason'] as const;

function isSame(row: DocumentNumber, told: DocumentNumber | undefined): boolean {
  return COMPARED.every((name) => row[name] === told?.[name]);
}

function described(number: DocumentNumber | undefined): string {
  return JSON.stringify(number, COMPARED as unknown as string[]);
}

function earlier(one: AuditFault | undefined, other: AuditFault | undefined): AuditFault | undefined {
  if (one?.number === undefined || other?.number === undefined) return one ?? other;
  return one.number <= other.number ? one : other;
}
