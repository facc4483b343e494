import { Injectable } from '@nestjs/common';
import { EmbeddedIdService } from '../embedded-id-service';

/** `degraded`: IDs are given, and somebody should look. `down`: a mode that is on gives none. */
export type LeafHealthStatus = 'up' | 'degraded' | 'down';

export interface LeafModeHealth {
  readonly status: LeafHealthStatus;
  readonly code?: string;
  readonly message?: string;
}

export interface LeafHealth {
  readonly status: LeafHealthStatus;
  readonly segment?: LeafModeHealth;
  readonly snowflake?: LeafModeHealth;
}

/**
 * Whether IDs can be had now, as a health indicator of @nestjs/terminus.
 *
 * @example health.check([() => leaf.check('leaf')])
 */
@Injectable()
export class LeafHealthIndicator {
  constructor(private readonly ids: EmbeddedIdService) {}

  check<Key extends string>(key: Key): Record<Key, LeafHealth> {
    const segment = this.segment();
    const snowflake = this.snowflake();
    const statuses = [segment?.status, snowflake?.status];
    const status = (['down', 'degraded'] as const).find((one) => statuses.includes(one)) ?? 'up';
    const health = { status, ...(segment && { segment }), ...(snowflake && { snowflake }) };
    return { [key]: health } as Record<Key, LeafHealth>;
  }

  /** Degraded, not down, when the database fails: what is in memory is still given. */
  private segment(): LeafModeHealth | undefined {
    const refresh = this.ids.segmentService?.refreshSnapshot();
    if (refresh === undefined) return undefined;
    const { lastError, lastSuccessAt } = refresh;
    if (lastError === undefined) return { status: 'up' };
    return { status: lastSuccessAt === undefined ? 'down' : 'degraded', message: lastError };
  }

  private snowflake(): LeafModeHealth | undefined {
    const service = this.ids.snowflakeService;
    if (service === undefined) return undefined;
    const refusal = service.refusal();
    if (refusal !== undefined) return { status: 'down', code: refusal.code, message: refusal.message };
    const problem = service.snapshot().lease.report.lastError ?? service.registryTrouble;
    return problem === undefined ? { status: 'up' } : { status: 'degraded', message: problem };
  }
}
