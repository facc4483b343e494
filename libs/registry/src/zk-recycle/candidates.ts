import type { RandomSource } from '@leaf/core';
import type { PoolEntry } from './worker-pool';
import type { PoolRecord } from './pool-record';

/** A worker that may be taken. */
export interface Candidate extends PoolEntry {
  readonly record: PoolRecord;
}

/**
 * How long after its ceiling a record in use counts as given up, in milliseconds. Not for uniqueness: it spares a
 * holder that is late, or whose clock is behind.
 */
const MARGIN_MS = 60_000;

/**
 * Who may be taken, the best first: the free, or else those whose holder has given up; first one of the half that was
 * used longest ago, by chance, so that many who choose at once do not choose the same. A ceiling that is still to come
 * rules its worker out.
 */
export function candidates(entries: readonly PoolEntry[], now: number, random: RandomSource): Candidate[] {
  const known = entries.filter(isKnown);
  const free = known.filter((entry) => isFree(entry, now));
  const usable = free.length > 0 ? free : known.filter((entry) => isGivenUp(entry, now));
  usable.sort((a, b) => a.record.ceiling - b.record.ceiling);
  const half = Math.ceil(usable.length / 2);
  return [...shuffled(usable.slice(0, half), random), ...shuffled(usable.slice(half), random)];
}

export function isKnown(entry: PoolEntry): entry is Candidate {
  return entry.record !== undefined;
}

/** Whether {@link candidates} lists it, once there is no better one. */
export function isTakeable(entry: Candidate, now: number): boolean {
  return isFree(entry, now) || isGivenUp(entry, now);
}

/** Whether its holder has let its ceiling pass. */
export function isGivenUp({ record: { state, ceiling } }: Candidate, now: number): boolean {
  return state === 'inuse' && ceiling + MARGIN_MS < now;
}

function isFree({ record: { state, ceiling } }: Candidate, now: number): boolean {
  return state === 'notuse' && ceiling <= now;
}

/** In random order. */
export function shuffled<T>(values: readonly T[], random: RandomSource): T[] {
  const left = [...values];
  return values.map(() => left.splice(random(left.length), 1)).flat();
}
