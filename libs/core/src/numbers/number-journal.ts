import { createHash, createHmac } from 'node:crypto';
import { LeafError } from '../errors/leaf-error';

export type NumberEvent = 'issued' | 'confirmed' | 'void';

/** One line of the journal of a period. Lines are only added, in the order of their positions. */
export interface JournalEntry {
  readonly period: string;
  /** 1 for the first line of the period. */
  readonly position: number;
  readonly event: NumberEvent;
  readonly number: bigint;
  readonly turn: number;
  readonly key: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly by: string;
  readonly reason: string | undefined;
  /** Hexadecimal; covers the line and {@link hash} of the one before. */
  readonly hash: string;
}

/** Marks a hash that was made with a key. */
const KEYED = 'hmac:';

/**
 * The hash chain of a journal: each hash is SHA-256 over the line and the hash before, so that a line that is changed,
 * removed or put in makes all later ones wrong. With a key it is HMAC-SHA-256 (RFC 2104), so that who can write to the
 * database but has no key cannot make a new chain.
 */
export class JournalSeal {
  constructor(private readonly secret?: string) {}

  /**
   * @param previous the hash of the line before; empty for the first one
   * @throws LeafError `LEAF_TAG_ROW_INVALID` without a key, after a line with one
   */
  seal(previous: string, tag: string, line: Omit<JournalEntry, 'hash'>): string {
    this.assertContinues(previous, tag);
    const text = textOf(previous, tag, line);
    return this.secret === undefined
      ? digest(text)
      : KEYED + createHmac('sha256', this.secret).update(text).digest('hex');
  }

  /**
   * Whether a line can be added to a journal.
   *
   * @param previous as of {@link seal}
   * @throws LeafError `LEAF_TAG_ROW_INVALID` without a key, after a line with one
   */
  assertContinues(previous: string, tag: string): void {
    if (this.secret === undefined && previous.startsWith(KEYED)) throw keyMissing(tag);
  }

  /**
   * Undefined for a line that the key does not prove: it was sealed with one that is missing here, or without one. After a
   * line with a key, one without is not intact: whoever has no key could have written it.
   */
  isIntact(previous: string, tag: string, { hash, ...line }: JournalEntry): boolean | undefined {
    if (!hash.startsWith(KEYED)) {
      const isIntact = !previous.startsWith(KEYED) && hash === digest(textOf(previous, tag, line));
      return isIntact && this.secret !== undefined ? undefined : isIntact;
    }
    return this.secret === undefined ? undefined : hash === this.seal(previous, tag, line);
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function textOf(previous: string, tag: string, line: Omit<JournalEntry, 'hash'>): string {
  const { period, position, event, number, turn, key, at, by, reason = null } = line;
  return JSON.stringify([previous, tag, period, position, event, String(number), turn, key, at, by, reason]);
}

function keyMissing(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_ROW_INVALID',
    `The journal of tag "${tag}" is sealed with a key, and this server has none. Set the option segment.database.numbers.key to that of the other servers.`,
  );
}
