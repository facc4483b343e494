import { type GaplessSettings, LeafError, type NumberAnswer, type DocumentNumber } from '@leaf-ids/core';
import {
  codeOf,
  type Continuation,
  historyLost,
  isSameNumbering,
  type JournalSeal,
  NumberLedger,
  type NumberHead,
  type NumberRequest,
  periodOf,
  replacedTag,
} from '@leaf-ids/core/internal';
import type { Statement } from '../connections/session';
import type { Epoch, FailoverGuard } from '../failover/failover-guard';
import { changedMeanwhile } from '../stores/alloc-row';
import type { TagDialect } from '../stores/tag-dialect';
import { NumberRows, type StoredHead } from './number-rows';

/** Tolerated difference between the clocks of a promoted replica and of the former primary, in milliseconds. */
const CLOCKS_MS = 86_400_000;
/** Codes of the drivers for a second row with the same key. */
const DUPLICATE = /^(ER_DUP_ENTRY|ER_DUP_UNIQUE|23505|SQLITE_CONSTRAINT)/;

export interface NumberRules {
  readonly seal: JournalSeal;
  /** Whether no failover loses a commit, so that numbers go on after one without a question. */
  readonly isSynchronous: boolean;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** How far the journal of a period had come when this process last saw it; 0 if it has not. */
export type SeenPosition = (period: string, head: Pick<NumberHead, 'continued'>) => number;

/** What is true once the transaction is committed. */
export interface CarriedOut {
  readonly answers: (NumberAnswer[] | LeafError)[];
  readonly heads: ReadonlyMap<string, NumberHead>;
  /** The periods of which this process has seen more than the transaction sees. */
  readonly behind: readonly string[];
}

/**
 * One transaction on the numbers of a tag: locks the row of the tag, reads, has `NumberLedger` decide, and writes. It
 * may be part of a larger one, on any isolation level: what it reads to decide is locked.
 */
export class NumberTransaction {
  private readonly rows: NumberRows;

  /**
   * @param isShared whether it is part of a larger transaction, which may have read before the tag was locked
   */
  constructor(
    private readonly statement: Statement,
    private readonly dialect: TagDialect,
    private readonly guard: FailoverGuard,
    private readonly rules: NumberRules,
    private readonly isShared: boolean,
  ) {
    this.rows = new NumberRows(statement, dialect);
  }

  /**
   * @returns undefined when the guard must act first
   * @throws LeafError as `NumberStore.carryOut`
   */
  async carryOut(
    tag: string,
    expected: GaplessSettings,
    calls: readonly (readonly NumberRequest[])[],
    seen: SeenPosition,
  ): Promise<CarriedOut | undefined> {
    const settings = await this.rows.settings(tag, true);
    if (!isSameNumbering(settings, expected)) throw replacedTag(tag);
    const requests = calls.flat();
    const known = await this.rows.byKeys(tag, [...new Set(requests.map(({ key }) => key))], this.isShared);
    const fresh = requests.flatMap((request) =>
      request.act === 'issue' && !known.has(request.key) ? [request.period] : [],
    );
    const periods = new Set([...fresh, ...Array.from(known.values(), ({ period }) => period)]);
    const epoch = await this.epoch();
    if (epoch === undefined) return undefined;
    const stored = await this.rows.heads(tag, ['', ...periods], true);
    const certain = [...periods].flatMap((period): [string, NumberHead][] => {
      const head = this.headOf(period, settings, stored, epoch);
      return head === undefined ? [] : [[period, head]];
    });
    // What is lost in one period may be lost in all.
    const behind = certain.flatMap(([period, head]) => (head.position < seen(period, head) ? [period] : []));
    const isBehind = behind.length > 0;
    if (isBehind && !this.isShared) await this.markLost(tag);
    const heads = new Map(isBehind ? [] : certain);
    const free = new Map<string, DocumentNumber[]>();
    if (settings.reissue) {
      for (const period of new Set(fresh)) free.set(period, await this.freeNumbers(tag, period, fresh.length));
    }
    const ledger = new NumberLedger(tag, { settings, known, heads, free }, this.rules.seal, this.rules.now());
    const answers = calls.map((call) => orRefusal(() => ledger.carryOut(call)));
    // Without a certain end, nothing was issued or settled.
    if (!isBehind) await this.write(tag, ledger, stored, epoch, settings);
    return { answers, heads: ledger.heads, behind };
  }

  /**
   * @param seen how often this process has seen that the period was continued, which the database may lack
   * @returns undefined when the guard must act first
   * @throws LeafError as `NumberStore.continueAfter`
   */
  async continueAfter(tag: string, where: Continuation, seen: number): Promise<number | undefined> {
    const { period, lastNumber, by, reason } = where;
    const settings = await this.rows.settings(tag, true);
    const epoch = await this.epoch();
    if (epoch === undefined) return undefined;
    const stored = await this.rows.heads(tag, ['', period, settledPart(period)], true);
    const before = stored.get(period) ?? newHead(settings.first);
    // Of a head that went back, the rows and the journal may still know more.
    const latest = await this.latest(tag, period, before);
    const head = { ...latest, continued: Math.max(latest.continued, seen) };
    const state = { settings, known: new Map(), heads: new Map([[period, head]]), free: new Map() };
    const ledger = new NumberLedger(tag, state, this.rules.seal, this.rules.now());
    const skipped = ledger.skip(period, lastNumber, by, reason);
    await this.write(tag, ledger, stored, epoch, settings);
    if (settings.reissue) {
      const mark = settledPart(period);
      await this.rows.writeHead(tag, mark, { ...newHead(lastNumber + 1n), epoch: 0 }, !stored.has(mark));
    }
    return skipped;
  }

  /**
   * From now on, every server knows that the history of the tag is lost, even if the database has none of its ends.
   *
   * @throws LeafError as `NumberRows.settings`
   */
  async markLost(tag: string): Promise<void> {
    const { first } = await this.rows.settings(tag, true);
    const stored = await this.rows.heads(tag, [''], true);
    if (!stored.has('')) await this.rows.writeHead(tag, '', { ...newHead(first), epoch: 0 }, true);
    await this.rows.markLost(tag, this.rules.now());
  }

  /** What is committed, under the lock of the tag: a move of the tags waits for it. */
  private epoch(): Promise<Epoch | undefined> {
    const { guard, statement, dialect } = this;
    return this.isShared ? guard.epochBeside(statement, dialect.updated) : guard.epoch(statement, dialect.updated);
  }

  /** The end of a period, if it is certain that the database has it. */
  private headOf(
    period: string,
    { reset, first }: GaplessSettings,
    stored: ReadonlyMap<string, StoredHead>,
    { count, since }: Epoch,
  ): NumberHead | undefined {
    const isCertain = ({ epoch }: StoredHead): boolean => epoch === count || (epoch >= 0 && this.rules.isSynchronous);
    const head = stored.get(period);
    if (head !== undefined) return isCertain(head) ? head : undefined;
    const ofTag = stored.get('');
    if (ofTag === undefined ? count === 0 : isCertain(ofTag)) return newHead(first);
    // The loss cannot concern a period that nobody could use before it.
    if (reset === undefined) return undefined;
    const lostAt = Math.max(since, -(ofTag?.epoch ?? 0));
    return periodOf(reset, period).opensAt - CLOCKS_MS > lostAt * 1000 ? newHead(first) : undefined;
  }

  private async latest(tag: string, period: string, head: NumberHead): Promise<NumberHead> {
    const [row] = await this.rows.numbers('period = ? ORDER BY number DESC, turn DESC LIMIT 1', [tag, period]);
    const [line] = await this.rows.lines('period = ? ORDER BY position DESC LIMIT 1', [tag, period]);
    const [highest] = await this.rows.lines('period = ? ORDER BY number DESC, position DESC LIMIT 1', [tag, period]);
    const ends = [head.next, ...[row, highest].flatMap((found) => (found === undefined ? [] : [found.number + 1n]))];
    const next = ends.reduce((most, end) => (end > most ? end : most));
    const issuedAt = Math.max(head.issuedAt, row?.issuedAt ?? 0);
    if (line === undefined || line.position <= head.position) return { ...head, next, issuedAt };
    return { ...head, next, issuedAt, position: line.position, hash: line.hash };
  }

  private async freeNumbers(tag: string, period: string, limit: number): Promise<DocumentNumber[]> {
    const { number, forUpdate } = this.dialect;
    const lock = this.isShared ? forUpdate : '';
    const heads = await this.rows.heads(tag, [settledPart(period)], this.isShared);
    const [mark] = heads.values();
    // Earlier versions have skipped numbers without that mark.
    return this.rows.numbers(
      `state = 'void' AND period = ? AND number >= ${number} AND doc_key NOT LIKE '~%' ORDER BY number LIMIT ${limit} ${lock}`,
      [tag, period, mark?.next ?? 0n],
    );
  }

  private async write(
    tag: string,
    ledger: NumberLedger,
    stored: ReadonlyMap<string, StoredHead>,
    { count: epoch }: Epoch,
    { first }: GaplessSettings,
  ): Promise<void> {
    const all = [...ledger.written.values()];
    try {
      await this.rows.settle(
        tag,
        all.filter(({ key }) => !ledger.isInserted(key)),
      );
      await this.rows.insertNumbers(
        tag,
        all.filter(({ key }) => ledger.isInserted(key)),
      );
      await this.rows.insertLines(tag, ledger.entries);
    } catch (error) {
      if (!DUPLICATE.test(codeOf(error) ?? '')) throw error;
      // What the larger transaction sees may be older.
      if (this.isShared) throw changedMeanwhile(tag);
      // The end of the period is behind its rows: some of the tables were restored alone.
      throw historyLost(tag, all[0]?.period ?? '');
    }
    if (stored.get('') === undefined && !ledger.heads.has('')) {
      // Other periods may be lost as well.
      await this.rows.writeHead(tag, '', { ...newHead(first), epoch: Math.max(0, epoch - 1) }, true);
    }
    for (const [period, head] of ledger.heads) {
      const before = stored.get(period);
      const isSame =
        before?.next === head.next && before.position === head.position && before.continued === head.continued;
      if (isSame && before.epoch === epoch) continue;
      await this.rows.writeHead(tag, period, { ...head, epoch }, before === undefined);
    }
  }
}

/**
 * The head whose `next` is the first number of the period that may be given out again. When somebody says where the period
 * goes on, none up to there may: in what was lost, an open one may have become void and been given to a document that the
 * database does not know.
 */
function settledPart(period: string): string {
  return `~${period}`;
}

function newHead(next: bigint): NumberHead {
  return { next, position: 0, hash: '', issuedAt: 0, continued: 0 };
}

function orRefusal(act: () => NumberAnswer[]): NumberAnswer[] | LeafError {
  try {
    return act();
  } catch (error) {
    if (error instanceof LeafError) return error;
    throw error;
  }
}
