import { accepted, InvalidValueError } from '../../util/options';
import type { BitLayoutOptions } from '../../snowflake/bit-layout';

/** Worker IDs from `first` to `last`. */
export interface WorkerRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Parses `96-127`, or one worker ID.
 *
 * @throws InvalidValueError
 */
export function parseWorkerRange(text: string): WorkerRange {
  const parts = /^(\d{1,7})(?:-(\d{1,7}))?$/.exec(text);
  const [first, last] = [Number(parts?.[1]), Number(parts?.[2] ?? parts?.[1])];
  if (first <= last) return { first, last };
  throw new InvalidValueError('range of worker IDs', 'must be the first and the last worker ID, for example 96-127');
}

/** The rule of an option that is a range. */
export const workerRangeRule = accepted(parseWorkerRange);

export function formatWorkerRange({ first, last }: WorkerRange): string {
  return first === last ? `${first}` : `${first}-${last}`;
}

/** The worker IDs of a data center, which is one of the layout. */
export function workersOfDatacenter(
  datacenterId: number,
  { workerBits, datacenterBits = 0 }: Pick<BitLayoutOptions, 'workerBits' | 'datacenterBits'>,
): WorkerRange {
  const machines = 2 ** (workerBits - datacenterBits);
  return { first: datacenterId * machines, last: (datacenterId + 1) * machines - 1 };
}

export function workersIn({ first, last }: WorkerRange): number {
  return last - first + 1;
}

export function isWorkerIn({ first, last }: WorkerRange, workerId: number): boolean {
  return workerId >= first && workerId <= last;
}
