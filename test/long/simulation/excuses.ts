import type { Issuer } from './issuer';

/** Conditions under which duplicates are expected. Any other duplicate is a bug. */
export const EXCUSES = [
  'two hosts of one ip:port, one going by its file',
  'a data directory that decides was copied or restored',
  'history lost, and a holder cut off for the grace',
  'clocks apart when a floor was written',
] as const;

export type Excuse = (typeof EXCUSES)[number];
export type ExcuseCounts = Record<Excuse, number>;

export function noExcuses(): ExcuseCounts {
  return Object.fromEntries(EXCUSES.map((excuse) => [excuse, 0])) as ExcuseCounts;
}

/** The conditions that explain an overlap of two issuers. */
export function excuseOf(a: Issuer, b: Issuer, clocksApart: boolean): Excuse | undefined {
  const stoodIn = a.stoodIn || b.stoodIn;
  if (stoodIn && a.instance === b.instance && a.host !== b.host) return EXCUSES[0];
  if (stoodIn && (a.copied() || b.copied())) return EXCUSES[1];
  if (a.missedGrace || b.missedGrace) return EXCUSES[2];
  if (clocksApart) return EXCUSES[3];
  return undefined;
}
