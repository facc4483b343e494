import type { IdRange, NewTag, SnowflakeParts } from '@leaf-ids/core';
import type { TagJson } from '@leaf-ids/core/internal';
import type { NumberSource } from './number-source';

/** Output of a command, as text and as JSON. */
export interface Result {
  /** Lines for people, without the last line break. */
  readonly text: string;
  /** The value of `--json`. */
  readonly json: unknown;
  /** A remark for people on standard error. */
  readonly note?: string;
  /** Whether the exit code reports a failure. */
  readonly failed?: boolean;
}

export interface TagList {
  readonly tags: readonly TagJson[];
  /** The last tag of this page if there is another page, otherwise null. */
  readonly next: string | null;
}

/** A server, or a database. The methods throw a `LeafError` that says what to do. */
export interface Source {
  readonly numbers: NumberSource;
  nextIds(tag: string, count: number): Promise<bigint[]>;
  nextRanges(tag: string, count: number): Promise<IdRange[]>;
  /** Numbers of a tag that restarts with each period, by a pattern of `PeriodFormat`. */
  nextTexts(tag: string, count: number, pattern: string): Promise<string[]>;
  /** @param workers with a database: the first and the last worker ID that may be taken */
  snowflakes(count: number, workers?: string): Promise<bigint[]>;
  decode(id: bigint): Promise<SnowflakeParts>;
  listTags(after: string | undefined, limit: number): Promise<TagList>;
  findTag(tag: string): Promise<TagJson>;
  createTag(tag: NewTag): Promise<TagJson>;
  /** @param strict whether a degraded server fails the check */
  check(strict: boolean): Promise<Result>;
  close(): Promise<void>;
}

/**
 * Opens the source that the options name, and prints the result.
 *
 * @param tag the tag of the command, for messages
 * @param settings the options with which such a tag is created
 */
export type Perform = (act: (source: Source) => Promise<Result>, tag?: string, settings?: string) => Promise<void>;
