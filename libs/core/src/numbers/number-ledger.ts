import { LeafError } from '../errors/leaf-error';
import { MAX_ID } from '../segment/tags/id-range';
import {
  type DocumentNumber,
  type GaplessSettings,
  type NumberAnswer,
  type NumberRequest,
  skippedKey,
} from './document-number';
import type { JournalEntry, JournalSeal, NumberEvent } from './number-journal';

/** Where the numbers and the journal of a period end. */
export interface NumberHead {
  /** The number of the next new document. */
  readonly next: bigint;
  /** Position of the last line of the journal; 0 without one. */
  readonly position: number;
  /** Hash of that line; empty without one. */
  readonly hash: string;
  /** When the last number was issued, in Unix milliseconds. */
  readonly issuedAt: number;
  /** Number of continuations of the period. */
  readonly continued: number;
}

/** What a transaction has read, under the lock of the tag. */
export interface NumberState {
  readonly settings: GaplessSettings;
  /** The numbers of the keys that have one. */
  readonly known: ReadonlyMap<string, DocumentNumber>;
  /** By period; without those whose end is not certain. */
  readonly heads: ReadonlyMap<string, NumberHead>;
  /** By period: void numbers to give out again, the lowest first; only for a tag with `reissue`. */
  readonly free: ReadonlyMap<string, readonly DocumentNumber[]>;
}

/** Skipped numbers in one call: each gets a row. */
const MAX_SKIPPED = 100_000n;

/**
 * The rules of gapless numbers: what one transaction writes, from what it has read. Each number is the one after the
 * last, belongs to one key, and each change has a line in the journal; so the numbers of a period that are committed
 * have no gap, and one key has one number.
 */
export class NumberLedger {
  /** The rows to insert or to change, by key. */
  readonly written = new Map<string, DocumentNumber>();
  readonly heads: Map<string, NumberHead>;
  /** The lines to add, in their order. */
  readonly entries: JournalEntry[] = [];
  private readonly free: Map<string, DocumentNumber[]>;

  /** @param now Unix milliseconds */
  constructor(
    private readonly tag: string,
    private readonly state: NumberState,
    private readonly seal: JournalSeal,
    private readonly now: number,
  ) {
    this.heads = new Map(state.heads);
    this.free = new Map(Array.from(state.free, ([period, numbers]) => [period, [...numbers]]));
  }

  /** Whether the row of this key is new. */
  isInserted(key: string): boolean {
    return !this.state.known.has(key) && !this.isFree(key);
  }

  /**
   * Carries out the requests of one call, or changes nothing.
   *
   * @throws LeafError `LEAF_NUMBER_EXISTS`, `LEAF_NUMBER_NOT_FOUND`, `LEAF_NUMBER_SETTLED`, `LEAF_TAG_EXHAUSTED`,
   *   `LEAF_NUMBERS_HISTORY_LOST`, `LEAF_TAG_ROW_INVALID`
   */
  carryOut(requests: readonly NumberRequest[]): NumberAnswer[] {
    const wanted = new Map<string, Set<string>>();
    for (const request of requests) this.check(request, wanted);
    for (const [period, keys] of wanted) this.assertLeft(period, keys.size - (this.free.get(period)?.length ?? 0));
    return requests.map((request) => (request.act === 'issue' ? this.issue(request) : this.settle(request)));
  }

  /**
   * Makes every number up to `last` void that has no document.
   *
   * @returns how many became void
   * @throws LeafError `LEAF_MAX_ID_BACKWARDS`, `LEAF_BODY_INVALID`, `LEAF_TAG_EXHAUSTED`
   */
  skip(period: string, last: bigint, by: string, reason: string): number {
    const { next } = this.headOf(period);
    if (last < next - 1n) {
      throw new LeafError(
        'LEAF_MAX_ID_BACKWARDS',
        `Tag "${this.tag}" has numbers up to ${next - 1n}${of(period)}: lastNumber must be at least that, not ${last}.`,
      );
    }
    this.heads.set(period, { ...this.headOf(period), continued: this.headOf(period).continued + 1 });
    const count = last - next + 1n;
    if (count > MAX_SKIPPED) {
      throw new LeafError(
        'LEAF_BODY_INVALID',
        `lastNumber ${last} would make ${count} numbers of tag "${this.tag}" void; at most ${MAX_SKIPPED} in one call. Check it, or send several calls.`,
      );
    }
    this.assertLeft(period, Number(count));
    for (let number = next; number <= last; number++) {
      const key = skippedKey(period, number);
      this.settle({ act: 'void', key, by, reason }, this.give({ key, period, by }, undefined));
    }
    return Number(count);
  }

  private check(request: NumberRequest, wanted: Map<string, Set<string>>): void {
    const known = this.find(request.key);
    if (request.act === 'issue') {
      if (known !== undefined && (request.isCurrent || known.period === request.period)) return;
      if (known !== undefined) throw this.elsewhere(known, request.period);
      const keys = wanted.get(request.period) ?? new Set();
      wanted.set(request.period, keys.add(request.key));
      return;
    }
    if (known === undefined) throw unknownNumber(this.tag, request.key);
    const isVoid = known.state === 'void' || known.state === 'reissued';
    if (request.act === 'void' ? known.state === 'confirmed' : isVoid) throw this.settledOtherwise(known, request.act);
    if (known.state === 'issued') this.seal.assertContinues(this.headOf(known.period).hash, this.tag);
  }

  /** @param fresh how many numbers after the last one are wanted; none if it is below 1 */
  private assertLeft(period: string, fresh: number): void {
    const last = this.state.settings.max ?? MAX_ID - 1n;
    const { next, hash } = this.headOf(period);
    this.seal.assertContinues(hash, this.tag);
    if (fresh <= 0 || next - 1n + BigInt(fresh) <= last) return;
    throw new LeafError(
      'LEAF_TAG_EXHAUSTED',
      `Tag "${this.tag}" has numbers up to ${next - 1n}${of(period)}: ${fresh} more would exceed its max, ${last}. Raise its max, or create a new tag.`,
    );
  }

  private issue(request: { key: string; period: string; by: string }): NumberAnswer {
    const known = this.find(request.key);
    if (known !== undefined) return { number: known, isNew: false };
    const free = this.free.get(request.period)?.shift();
    if (free !== undefined) this.written.set(free.key, { ...free, state: 'reissued' });
    return { number: this.give(request, free), isNew: true };
  }

  private give(
    { key, period, by }: { key: string; period: string; by: string },
    free?: DocumentNumber,
  ): DocumentNumber {
    const head = this.headOf(period);
    const number = free?.number ?? head.next;
    const turn = free === undefined ? 0 : free.turn + 1;
    // A clock behind that of another server does not change the order of the dates.
    const issuedAt = Math.max(this.now, head.issuedAt);
    const open = { settledAt: undefined, settledBy: undefined, reason: undefined };
    const given: DocumentNumber = { key, period, number, turn, state: 'issued', issuedAt, issuedBy: by, ...open };
    this.written.set(key, given);
    this.heads.set(period, { ...head, next: free === undefined ? number + 1n : head.next, issuedAt });
    this.note('issued', given, issuedAt, by, undefined);
    return given;
  }

  private settle(
    { act, key, by, reason }: NumberRequest & { act: 'confirm' | 'void' },
    known = this.find(key),
  ): NumberAnswer {
    if (known === undefined) throw unknownNumber(this.tag, key);
    if (known.state !== 'issued') return { number: known, isNew: false };
    const state = act === 'confirm' ? 'confirmed' : 'void';
    const settledAt = Math.max(this.now, known.issuedAt);
    const number: DocumentNumber = { ...known, state, settledAt, settledBy: by, reason };
    this.written.set(key, number);
    this.note(state, number, settledAt, by, reason);
    return { number, isNew: true };
  }

  private note(event: NumberEvent, of: DocumentNumber, at: number, by: string, reason: string | undefined): void {
    const { period, number, turn, key } = of;
    const head = this.headOf(period);
    const line = { period, position: head.position + 1, event, number, turn, key, at, by, reason };
    const hash = this.seal.seal(head.hash, this.tag, line);
    this.entries.push({ ...line, hash });
    this.heads.set(period, { ...head, position: line.position, hash });
  }

  private find(key: string): DocumentNumber | undefined {
    return this.written.get(key) ?? this.state.known.get(key);
  }

  private isFree(key: string): boolean {
    return this.written.get(key)?.state === 'reissued';
  }

  private headOf(period: string): NumberHead {
    const head = this.heads.get(period);
    if (head === undefined) throw historyLost(this.tag, period);
    return head;
  }

  private elsewhere({ key, period, number }: DocumentNumber, wanted: string): LeafError {
    return new LeafError(
      'LEAF_NUMBER_EXISTS',
      `The document ${JSON.stringify(key)} has the number ${number}${of(period)} of tag "${this.tag}", so it gets none${of(wanted)}. Omit the date, or send that of the first call.`,
    );
  }

  private settledOtherwise({ key, state, number, period }: DocumentNumber, act: string): LeafError {
    const remedy = act === 'void' ? 'Cancel the document with another document' : 'Issue a number for a new key';
    return new LeafError(
      'LEAF_NUMBER_SETTLED',
      `The number ${number}${of(period)} of the document ${JSON.stringify(key)} in tag "${this.tag}" is ${state}, which is final. ${remedy}.`,
    );
  }
}

function of(period: string): string {
  return period === '' ? '' : ` in ${period}`;
}

export function unknownNumber(tag: string, key: string): LeafError {
  return new LeafError(
    'LEAF_NUMBER_NOT_FOUND',
    `The document ${JSON.stringify(key)} has no number of tag "${tag}". Check the key. PUT /api/numbers/${tag}/<key> issues a number.`,
  );
}

export function historyLost(tag: string, period: string): LeafError {
  const body = `{ "lastNumber": "…", "reason": "…"${period === '' ? '' : `, "period": "${period}"`} }`;
  return new LeafError(
    'LEAF_NUMBERS_HISTORY_LOST',
    `The database may lack the newest numbers of tag "${tag}"${period === '' ? '' : ` in ${period}`}: it failed over or was restored. Find the last number on a document, and say where to continue: POST /api/tags/${tag}/continue ${body}, or leaf numbers continue.`,
  );
}

export function voidNumber(tag: string, key: string, number: string): LeafError {
  return new LeafError(
    'LEAF_NUMBER_SETTLED',
    `The number ${number} of the document ${JSON.stringify(key)} in tag "${tag}" is void, which is final. Issue a number for a new key.`,
  );
}
