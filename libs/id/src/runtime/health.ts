import type { LeafErrorCode } from '@leaf-ids/core';

/** `degraded`: IDs are issued, but an operator should investigate. `down`: an enabled mode issues no IDs. */
export type HealthStatus = 'up' | 'degraded' | 'down';

/** The health of a part, and the reason if it is not up. */
export interface Health {
  readonly status: HealthStatus;
  readonly code?: LeafErrorCode;
  readonly message?: string;
}

/** The worst status of the parts. */
export function worstOf(healths: readonly (Health | undefined)[]): HealthStatus {
  const statuses = healths.map((health) => health?.status);
  return (['down', 'degraded'] as const).find((status) => statuses.includes(status)) ?? 'up';
}
