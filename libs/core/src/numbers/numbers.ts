import type { Clock } from '../clock/clock';
import { isLeafError, LeafError, messageOf } from '../errors/leaf-error';
import { PeriodFormat } from '../format/period-format';
import { PacedSender } from '../segment/buffer/paced-sender';
import { BACKOFF } from '../segment/buffer/allocating-source';
import { assertNear, invalidPeriod, PeriodCalendars, periodOf } from '../segment/tags/periods';
import { pausedTag, stopping } from '../segment/tags/tag-refusals';
import { assertTag } from '../segment/tags/tag-settings';
import { withinDeadline } from '../util/deadline';
import { assertCount } from '../util/options';
import type { RandomSource } from '../util/random';
import { backoffMs } from '../util/retry';
import {
  assertBy,
  assertKey,
  assertReason,
  type DocumentNumber,
  type GaplessSettings,
  isSameNumbering,
  MAX_KEYS,
  type NumberAnswer,
  type NumberRequest,
} from './document-number';
import { auditNumbers, type NumberAudit } from './number-audit';
import { unknownNumber, voidNumber } from './number-ledger';
import { jsonOfNumber, type NumberJson } from './number-json';
import type { NumberPage, NumberStore, OpenNumbers, TransactionStatement } from './number-store';

/** Requests of one transaction. */
const MAX_GROUP = 2 * MAX_KEYS;
/** Requests that may wait for one tag; further calls are refused. */
const MAX_WAITING = 20_000;

interface Call {
  readonly requests: readonly NumberRequest[];
  /** Monotonic milliseconds. */
  readonly deadline: number;
  readonly resolve: (answers: NumberAnswer[]) => void;
  readonly reject: (refusal: Error) => void;
}

export interface NumbersOptions {
  /** Longest wait of a call for the database, in milliseconds. */
  readonly waitMs: number;
  /** Whether this server gives no numbers of the tag at the moment; never by default. */
  readonly isPaused?: (tag: string) => boolean;
}

/** What the numbers of one tag share: its settings, and the calls that wait. */
interface Line {
  readonly settings: GaplessSettings;
  readonly waiting: Call[];
  /** Of the calls that wait. */
  requests: number;
  readonly sender: PacedSender;
}

/**
 * Numbers without gaps, one for each document. All calls that wait for a tag share one transaction (group commit), and
 * one transaction of a tag runs at a time.
 */
export class Numbers {
  private readonly lines = new Map<string, Line>();
  /** The forms of the texts; undefined for a tag without a pattern. */
  private readonly formats = new Map<string, PeriodFormat | undefined>();
  private readonly calendars = new PeriodCalendars();
  private auditing = false;
  /** Uses of the store that have not ended. */
  private readonly uses = new Set<Promise<unknown>>();
  private closed = false;
  private watched: readonly OpenNumbers[] = [];

  constructor(
    private readonly store: NumberStore,
    private readonly clock: Clock,
    private readonly random: RandomSource,
    private readonly options: NumbersOptions,
  ) {}

  /**
   * The number of each document, in the order of the keys; the same for the same key, however often it is asked. All or
   * none.
   *
   * @param keys 1 to 1000
   * @param by who asks, for the journal
   * @param at a time in the period of the documents; defaults to now
   * @throws LeafError `LEAF_TAG_INVALID`, `LEAF_REQUEST_INVALID`, `LEAF_SIZE_INVALID`, `LEAF_TAG_NOT_FOUND`,
   *   `LEAF_TAG_NOT_GAPLESS`, `LEAF_PERIOD_INVALID`, `LEAF_NUMBER_EXISTS` when a document has a number of another period,
   *   `LEAF_TAG_EXHAUSTED`, `LEAF_TAG_PAUSED`, `LEAF_OVERLOADED`, `LEAF_NUMBERS_HISTORY_LOST`,
   *   `LEAF_STORE_UNAVAILABLE`: ask again with the same keys
   */
  async issue(tag: string, keys: readonly string[], by: string, at?: Date): Promise<NumberAnswer[]> {
    const { line, requests } = await this.requestsOf(tag, keys, by, at);
    return this.wait(tag, line, requests);
  }

  /**
   * As {@link issue}, as part of a transaction of the caller on the database of the tag: number and document are
   * committed or rolled back together. Call it last, because until the commit all other documents of the tag wait.
   *
   * @param statement sends a statement on the connection of the transaction
   * @throws LeafError as {@link issue}; roll the transaction back. After `LEAF_STORE_UNAVAILABLE`, run it again
   */
  async issueWithin(
    statement: TransactionStatement,
    tag: string,
    keys: readonly string[],
    by: string,
    at?: Date,
  ): Promise<NumberAnswer[]> {
    const { line, requests } = await this.requestsOf(tag, keys, by, at);
    try {
      return await this.use(() => this.store.carryOutWithin(statement, tag, line.settings, requests));
    } catch (error) {
      this.forget(tag, line);
      throw error;
    }
  }

  /**
   * The document exists: its number stays with it. Repeatable.
   *
   * @throws LeafError as {@link issue}, and `LEAF_NUMBER_NOT_FOUND`, `LEAF_NUMBER_SETTLED`
   */
  confirm(tag: string, key: string, by: string): Promise<NumberAnswer> {
    return this.settle(tag, { act: 'confirm', key, by, reason: undefined });
  }

  /**
   * No document has the number. Repeatable; the first reason stays.
   *
   * @throws LeafError as {@link confirm}, and `LEAF_BODY_INVALID` for the reason
   */
  async void(tag: string, key: string, by: string, reason: string): Promise<NumberAnswer> {
    assertReason(reason);
    return this.settle(tag, { act: 'void', key, by, reason });
  }

  /** @throws LeafError `LEAF_NUMBER_NOT_FOUND`, and as {@link issue} */
  async find(tag: string, key: string): Promise<DocumentNumber> {
    assertKey(key);
    await this.settingsOf(tag);
    const found = await this.use(() => this.store.find(tag, key));
    if (found === undefined) throw unknownNumber(tag, key);
    return found;
  }

  /** @throws LeafError as {@link issue} */
  async list(tag: string, page: NumberPage): Promise<DocumentNumber[]> {
    const settings = await this.settingsOf(tag);
    if (page.period !== undefined) assertPeriod(settings, page.period);
    return this.use(() => this.store.list(tag, page));
  }

  /**
   * Says where a tag goes on whose history was lost; see `docs/numbers.md`.
   *
   * @returns how many numbers became void
   * @throws LeafError as {@link issue}, and `LEAF_MAX_ID_BACKWARDS`, `LEAF_BODY_INVALID`
   */
  async continueAfter(
    tag: string,
    where: { readonly period?: string | undefined; readonly lastNumber: bigint; readonly by: string; reason: string },
  ): Promise<number> {
    assertReason(where.reason);
    assertBy(where.by);
    const settings = await this.settingsOf(tag);
    const period = where.period ?? this.periodAt(settings, undefined);
    assertPeriod(settings, period);
    this.assertUsable(settings, period);
    return this.use(() => this.store.continueAfter(tag, { ...where, period }));
  }

  /**
   * Checks all numbers of a period and their journal. One at a time.
   *
   * @param period defaults to the current one
   * @throws LeafError as {@link issue}, and `LEAF_OVERLOADED` while another audit runs
   */
  async audit(tag: string, period?: string): Promise<NumberAudit> {
    const settings = await this.settingsOf(tag);
    const audited = period ?? this.periodAt(settings, undefined);
    assertPeriod(settings, audited);
    if (this.auditing) {
      throw new LeafError('LEAF_OVERLOADED', 'Another audit runs on this server. Retry when it has ended.', {
        retryAfterMs: 5000,
      });
    }
    this.auditing = true;
    try {
      return await this.use(() => auditNumbers(this.store, tag, audited, settings, () => this.assertOpen()));
    } finally {
      this.auditing = false;
    }
  }

  /** The open numbers of all gapless tags, as {@link watch} has last seen them. */
  get open(): readonly OpenNumbers[] {
    return this.watched;
  }

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE` */
  async watch(): Promise<readonly OpenNumbers[]> {
    this.watched = await this.use(() => this.store.open());
    return this.watched;
  }

  /** Refuses further calls. Resolves when the store is not in use any more. */
  async close(): Promise<void> {
    this.closed = true;
    while (this.uses.size > 0) await Promise.allSettled(this.uses);
  }

  /** A number of a tag whose settings are known, in JSON. */
  jsonOf(tag: string, found: DocumentNumber): NumberJson {
    const { period, number } = found;
    return jsonOfNumber(tag, found, this.formats.get(tag)?.format({ period, number }));
  }

  private async requestsOf(
    tag: string,
    keys: readonly string[],
    by: string,
    at: Date | undefined,
  ): Promise<{ readonly line: Line; readonly requests: NumberRequest[] }> {
    assertCount(keys.length, MAX_KEYS);
    for (const key of keys) assertKey(key);
    assertBy(by);
    if (this.options.isPaused?.(tag) === true) throw pausedTag(tag);
    const line = await this.lineOf(tag);
    const period = this.periodAt(line.settings, at);
    return { line, requests: keys.map((key) => ({ act: 'issue', key, period, isCurrent: at === undefined, by })) };
  }

  /** @throws LeafError `LEAF_NOT_READY` once closed */
  private assertOpen(): void {
    if (this.closed) throw stopping();
  }

  /** @throws LeafError `LEAF_NOT_READY` once closed */
  private async use<Result>(act: () => Promise<Result>): Promise<Result> {
    this.assertOpen();
    const use = act();
    this.uses.add(use);
    try {
      return await use;
    } finally {
      this.uses.delete(use);
    }
  }

  /**
   * The text of a number for its document; in decimal, if the tag has no pattern.
   *
   * @throws LeafError `LEAF_NUMBER_SETTLED` for a void one, which no document may show
   */
  textOf(tag: string, found: DocumentNumber): string {
    if (found.state === 'void' || found.state === 'reissued') throw voidNumber(tag, found.key, String(found.number));
    const { text, number } = this.jsonOf(tag, found);
    return text ?? number;
  }

  private async settle(tag: string, request: NumberRequest): Promise<NumberAnswer> {
    assertKey(request.key);
    assertBy(request.by);
    const [answer] = await this.wait(tag, await this.lineOf(tag), [request]);
    if (answer === undefined) throw new Error('The store gave no answer.');
    return answer;
  }

  private async wait(tag: string, line: Line, requests: readonly NumberRequest[]): Promise<NumberAnswer[]> {
    if (line.requests + requests.length > MAX_WAITING) {
      throw new LeafError('LEAF_OVERLOADED', `Too many calls wait for numbers of tag "${tag}". Retry later.`, {
        retryAfterMs: 1000,
      });
    }
    const deadline = this.clock.monotonic() + this.options.waitMs;
    const answer = new Promise<NumberAnswer[]>((resolve, reject) => {
      line.waiting.push({ requests, deadline, resolve, reject });
      line.requests += requests.length;
      line.sender.wake();
    });
    if (await withinDeadline(answer, deadline, this.clock)) return answer;
    throw late(tag, this.options.waitMs);
  }

  private async lineOf(tag: string): Promise<Line> {
    const known = this.lines.get(tag);
    if (known !== undefined) return known;
    const settings = await this.settingsOf(tag);
    const line: Line = {
      ...{ settings, waiting: [], requests: 0 },
      sender: new PacedSender(this.clock, 1, {
        isReady: () => line.waiting.length > 0,
        send: () => this.send(tag, line, nextGroup(line)),
      }),
    };
    const first = this.lines.get(tag) ?? line;
    this.lines.set(tag, first);
    return first;
  }

  private async settingsOf(tag: string): Promise<GaplessSettings> {
    assertTag(tag);
    const settings = await this.use(() => this.store.settings(tag));
    this.formats.set(tag, formatOf(tag, settings));
    return settings;
  }

  /** Until it is answered, or the last of the calls is late: the keys make a second attempt harmless. */
  private async send(tag: string, line: Line, group: readonly Call[]): Promise<boolean> {
    const { clock } = this;
    for (let failures = 0; ;) {
      const left = group.filter(({ deadline }) => clock.monotonic() < deadline);
      if (left.length === 0) return false;
      try {
        const requests = left.map((call) => call.requests);
        const answers = await this.use(() => this.store.carryOut(tag, line.settings, requests));
        left.forEach(({ resolve, reject }, index) => {
          const answer = answers[index];
          if (answer === undefined || answer instanceof Error) reject(answer ?? new Error('no answer'));
          else resolve(answer);
        });
        return true;
      } catch (error) {
        if (this.closed || !isLeafError(error, 'LEAF_STORE_UNAVAILABLE') || (await this.isReplaced(tag, line))) {
          this.forget(tag, line);
          for (const { reject } of left) reject(error instanceof Error ? error : new Error(String(error)));
          return true;
        }
        await clock.sleep(backoffMs(++failures, BACKOFF, this.random));
      }
    }
  }

  /** Whether the tag was deleted and created again with other settings. */
  private async isReplaced(tag: string, { settings }: Line): Promise<boolean> {
    try {
      return !isSameNumbering(await this.store.settings(tag), settings);
    } catch {
      return false;
    }
  }

  /** The next call reads the settings again. */
  private forget(tag: string, line: Line): void {
    if (this.lines.get(tag) === line) this.lines.delete(tag);
  }

  /** @throws LeafError `LEAF_PERIOD_INVALID` for a period in which no document can get a number */
  private assertUsable({ reset }: GaplessSettings, name: string): void {
    if (reset === undefined) return;
    const { opensAt, closesAt } = periodOf(reset, name);
    const now = this.clock.now();
    if (now >= opensAt && now <= closesAt) return;
    throw invalidPeriod(
      `${JSON.stringify(name)} is too far from ${new Date(now).toISOString()}, the clock of this server`,
    );
  }

  private periodAt({ reset, zone }: GaplessSettings, at: Date | undefined): string {
    if (reset === undefined) return '';
    const now = this.clock.now();
    if (at !== undefined) assertNear(at.getTime(), now, reset);
    return this.calendars.of(reset, zone).nameAt(at?.getTime() ?? now);
  }
}

function nextGroup(line: Line): Call[] {
  let size = 0;
  // One call alone has at most MAX_KEYS requests.
  const end = line.waiting.findIndex(({ requests }) => (size += requests.length) > MAX_GROUP);
  const group = line.waiting.splice(0, end < 0 ? line.waiting.length : end);
  line.requests -= group.reduce((sum, { requests }) => sum + requests.length, 0);
  return group;
}

/** @throws LeafError `LEAF_TAG_ROW_INVALID` */
function formatOf(tag: string, { reset, pattern }: GaplessSettings): PeriodFormat | undefined {
  if (pattern === undefined) return undefined;
  try {
    return new PeriodFormat({ reset, pattern });
  } catch (error) {
    throw new LeafError(
      'LEAF_TAG_ROW_INVALID',
      `The row of tag "${tag}" in leaf_alloc has a pattern that cannot be used. Correct its column pattern: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/** @throws LeafError `LEAF_PERIOD_INVALID` */
function assertPeriod({ reset }: GaplessSettings, period: string): void {
  if (reset !== undefined) periodOf(reset, period);
  else if (period !== '') {
    throw new LeafError('LEAF_PERIOD_INVALID', 'Invalid period: the tag has no periods; omit it.');
  }
}

function late(tag: string, waitMs: number): LeafError {
  return new LeafError(
    'LEAF_STORE_UNAVAILABLE',
    `Tag "${tag}" has no answer of the database after ${waitMs} ms. Ask again with the same key: a document keeps the number that it may have got.`,
    { retryAfterMs: 1000 },
  );
}
