import { LeafError } from '../errors/leaf-error';
import type { DocumentNumber, GaplessSettings, NumberAnswer, NumberRequest, NumberState } from './document-number';
import type { JournalEntry, JournalSeal } from './number-journal';
import type { NumberHead } from './number-ledger';

/** A part of the numbers of a tag. */
export interface NumberPage {
  /** Undefined: all periods. */
  readonly period?: string | undefined;
  readonly state?: NumberState | undefined;
  /** The last one of the page before. */
  readonly after?: Pick<DocumentNumber, 'period' | 'number' | 'turn'> | undefined;
  readonly limit: number;
}

/**
 * Sends one statement on a connection of the caller, inside an open transaction, and resolves with the rows. The
 * placeholders are those of the driver: `?`, or `$1` for PostgreSQL.
 */
export type TransactionStatement = <Rows>(
  sql: string,
  parameters?: (string | number | bigint | null)[],
) => Promise<Rows>;

/** Where a tag goes on after its history was lost. */
export interface Continuation {
  readonly period: string;
  /** The last number that may have been given out. */
  readonly lastNumber: bigint;
  readonly by: string;
  readonly reason: string;
}

/** The open numbers of a tag. */
export interface OpenNumbers {
  readonly tag: string;
  readonly count: number;
  /** When the oldest one was issued, in Unix milliseconds; undefined without one. */
  readonly oldest: number | undefined;
  /** Lines in the journals of all periods. */
  readonly lines: number;
}

/** {@link OpenNumbers.count} is at most this. */
export const MAX_OPEN_COUNTED = 100_000;

/**
 * The numbers of gapless tags, with their journal. Every change is one transaction under the lock of the tag; the rules
 * are those of `NumberLedger`. Failures of the store reject with `LEAF_STORE_UNAVAILABLE`: what was asked may be done,
 * and is asked again by its keys.
 */
export abstract class NumberStore {
  /** Of the journals. */
  abstract readonly seal: JournalSeal;

  /** @throws LeafError `LEAF_TAG_NOT_FOUND`, `LEAF_TAG_NOT_GAPLESS`, `LEAF_STORE_UNAVAILABLE` */
  abstract settings(tag: string): Promise<GaplessSettings>;

  /**
   * Carries out the requests of several calls, each call whole or not at all.
   *
   * @param settings with which the periods of the requests were computed
   * @returns the answers to each call, or why it was refused
   * @throws LeafError `LEAF_NUMBERS_HISTORY_LOST`, `LEAF_TAG_NOT_FOUND`, `LEAF_TAG_NOT_GAPLESS`,
   *   `LEAF_STORE_UNAVAILABLE`
   */
  abstract carryOut(
    tag: string,
    settings: GaplessSettings,
    calls: readonly (readonly NumberRequest[])[],
  ): Promise<(NumberAnswer[] | LeafError)[]>;

  /**
   * As {@link carryOut}, for one call, as part of a transaction of the caller on the same database. The numbers count
   * when it commits; until then, every other call for the tag waits.
   *
   * @throws LeafError as {@link carryOut}; the transaction must then be rolled back
   */
  abstract carryOutWithin(
    statement: TransactionStatement,
    tag: string,
    settings: GaplessSettings,
    requests: readonly NumberRequest[],
  ): Promise<NumberAnswer[]>;

  /**
   * Makes the numbers up to the last one void that have no document, and lets the period go on.
   *
   * @returns how many became void
   * @throws LeafError as {@link carryOut}, and `LEAF_MAX_ID_BACKWARDS`, `LEAF_BODY_INVALID`
   */
  abstract continueAfter(tag: string, where: Continuation): Promise<number>;

  abstract find(tag: string, key: string): Promise<DocumentNumber | undefined>;

  /** By period, number and turn. */
  abstract list(tag: string, page: NumberPage): Promise<DocumentNumber[]>;

  /** Lines of the journal in their order, after a position. */
  abstract journal(tag: string, period: string, after: number, limit: number): Promise<JournalEntry[]>;

  /** Lines of the journal by number and position, from one number to another. */
  abstract linesOf(tag: string, period: string, from: bigint, to: bigint): Promise<JournalEntry[]>;

  /** The rows of the numbers from one to another, at most `limit`. */
  abstract rowsOf(tag: string, period: string, from: bigint, to: bigint, limit: number): Promise<DocumentNumber[]>;

  /** Where the numbers of a period end; undefined without one. */
  abstract headOf(tag: string, period: string): Promise<NumberHead | undefined>;

  /** The open numbers of all gapless tags. */
  abstract open(): Promise<OpenNumbers[]>;
}

export function notGapless(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_NOT_GAPLESS',
    `Tag "${tag}" is not gapless, so it has no numbers by key. Use GET /api/segment/get/${tag}, or create a tag with the order gapless.`,
  );
}
