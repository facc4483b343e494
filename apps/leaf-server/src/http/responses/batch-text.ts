import { type IdRange, sizeOf } from '@leaf-ids/core';
import { DecimalWriter } from '@leaf-ids/core/internal';

/** IDs in a chunk of a large batch: about 20 KB of text, written in less than 0.1 ms. */
const PIECE = 1000;
const SEPARATOR = '","';

/** The JSON property for the name in the request. */
export type Label = 'tag' | 'key';

/**
 * Writes the JSON of batches directly from ranges, which is five times as fast as creating a string for each ID. Tags
 * and keys contain no characters that JSON escapes.
 */
export class BatchText {
  private readonly writer = new DecimalWriter();

  write(label: Label, name: string, ranges: readonly IdRange[]): string {
    const ids = ranges.map((range) => this.writeRange(range)).join(SEPARATOR);
    return `${opening(label, name)}${ids}"]}`;
  }

  /** The same text in chunks, each written on demand. */
  *pieces(label: Label, name: string, ranges: readonly IdRange[]): Generator<string, void, undefined> {
    let separator = opening(label, name);
    for (const piece of ranges.flatMap(cut)) {
      yield separator + this.writeRange(piece);
      separator = SEPARATOR;
    }
    yield '"]}';
  }

  private writeRange(range: IdRange): string {
    this.writer.rebase(range.from);
    return this.writer.writeRun(sizeOf(range), SEPARATOR);
  }
}

/** Length of the text that {@link BatchText} writes, calculated without writing it. */
export function batchLength(label: Label, name: string, ranges: readonly IdRange[]): number {
  const ids = ranges.reduce((sum, range) => sum + digitsOf(range) + sizeOf(range) * SEPARATOR.length, 0);
  return opening(label, name).length + ids - SEPARATOR.length + '"]}'.length;
}

export interface RangesNotes {
  /** Included in the response: clients must not buffer IDs of strict tags. */
  readonly strict?: boolean | undefined;
  /** The period within which the numbers are unique; omitted for tags without periods. */
  readonly period?: string;
  /** The text of each number. */
  readonly texts?: readonly string[] | undefined;
}

export function rangesText(
  tag: string,
  ranges: readonly IdRange[],
  { strict, period, texts }: RangesNotes = {},
): string {
  return JSON.stringify({
    tag,
    order: strict === true ? 'strict' : undefined,
    period,
    ranges: ranges.map(({ from, to }) => ({ from: String(from), to: String(to) })),
    texts,
  });
}

function opening(label: Label, name: string): string {
  return `{"${label}":"${name}","ids":["`;
}

function cut({ from, to }: IdRange): IdRange[] {
  const pieces: IdRange[] = [];
  for (let start = from; start <= to; start += BigInt(PIECE)) {
    const end = start + BigInt(PIECE - 1);
    pieces.push({ from: start, to: end < to ? end : to });
  }
  return pieces;
}

/** Total number of decimal digits in the range. */
function digitsOf({ from, to }: IdRange): number {
  let sum = 0;
  for (let start = from; start <= to;) {
    const digits = String(start).length;
    const next = 10n ** BigInt(digits);
    const end = next <= to ? next - 1n : to;
    sum += digits * sizeOf({ from: start, to: end });
    start = end + 1n;
  }
  return sum;
}
