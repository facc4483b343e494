import type { LeafErrorCode } from '@leaf-ids/core';

/** `degraded`: IDs are issued, but an operator should investigate. `down`: an enabled mode issues no IDs. */
export type HealthStatus = 'up' | 'degraded' | 'down';

/** The health of a part, and the reason if it is not up. */
export interface Health {
  readonly status: HealthStatus;
  readonly code?: LeafErrorCode;
  readonly message?: string;
}

const FROM_BEST = ['off', 'up', 'degraded', 'down'];

/** The part with the worst status; of several that are as bad, the first. Undefined without parts. */
export function worstPart<Part extends { readonly status: HealthStatus | 'off' }>(
  parts: readonly (Part | undefined)[],
): Part | undefined {
  const rank = (part: Part | undefined): number => (part === undefined ? -1 : FROM_BEST.indexOf(part.status));
  return parts.reduce((worst, part) => (rank(part) > rank(worst) ? part : worst), undefined);
}
