import type { LeafErrorCode } from '@leaf-ids/core';

/** `degraded`: IDs are given, and somebody should look. `down`: a mode that is on gives none. */
export type HealthStatus = 'up' | 'degraded' | 'down';

/** How a part is, and why it is not up. */
export interface Health {
  readonly status: HealthStatus;
  readonly code?: LeafErrorCode;
  readonly message?: string;
}

/** The worst of them. */
export function worstOf(healths: readonly (Health | undefined)[]): HealthStatus {
  const statuses = healths.map((health) => health?.status);
  return (['down', 'degraded'] as const).find((status) => statuses.includes(status)) ?? 'up';
}
