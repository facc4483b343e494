import type { GraceOptions } from '@leaf-ids/core/internal';

/** Two reports may fail. */
const REPORTS = 3;

/** The time in which every holder that can reach an emptied registry registers again, in milliseconds. */
export function registrationMs({ reportMs, clockOffsetMs }: GraceOptions): number {
  return REPORTS * reportMs + clockOffsetMs;
}
