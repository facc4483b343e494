import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Call, Operation } from './checker';

/** Calls written at a time. */
const CHUNK = 1000;

/** All calls of one run for one tag. */
export interface CallHistory {
  readonly tag: string;
  readonly operations: readonly Operation[];
  /** Calls that got no ID: some may have taken numbers that no answer names. */
  readonly unknown: readonly Call[];
}

/**
 * Writes one JSON line for each call: process, call and return in nanoseconds of one monotonic clock, tag, and its IDs as
 * ranges `[from, to]` in the order of the answer, or `"unknown"`.
 */
export async function writeHistory(file: string, history: CallHistory): Promise<void> {
  await pipeline(Readable.from(chunksOf(history)), createWriteStream(file));
}

function* chunksOf({ tag, operations, unknown }: CallHistory): Generator<string> {
  for (let from = 0; from < operations.length; from += CHUNK) {
    yield operations
      .slice(from, from + CHUNK)
      .map((operation) => lineOf(tag, operation, rangesOf(operation)))
      .join('');
  }
  for (const call of unknown) yield lineOf(tag, call, 'unknown');
}

function lineOf(tag: string, { caller, startedAt, endedAt }: Call, ids: unknown): string {
  return `${JSON.stringify({ process: caller, call: startedAt, return: endedAt, tag, ids })}\n`;
}

function rangesOf({ from, to, ids }: Operation): [number, number][] {
  return ids?.map((id) => [id, id]) ?? [[from, to]];
}
