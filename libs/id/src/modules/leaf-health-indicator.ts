import { Injectable } from '@nestjs/common';
import { EmbeddedIdService } from '../runtime/embedded-id-service';
import { type Health, type HealthStatus, worstPart } from '../runtime/health';

export interface LeafHealth {
  readonly status: HealthStatus;
  readonly segment?: Health;
  readonly snowflake?: Health;
}

/**
 * A health indicator for @nestjs/terminus: whether IDs are available.
 *
 * @example health.check([() => leaf.check('leaf')])
 */
@Injectable()
export class LeafHealthIndicator {
  constructor(private readonly ids: EmbeddedIdService) {}

  check<Key extends string>(key: Key): Record<Key, LeafHealth> {
    const { segment, snowflake } = this.ids.readiness();
    const health: LeafHealth = {
      status: worstPart([segment?.health, snowflake?.health])?.status ?? 'up',
      ...(segment && { segment: segment.health }),
      ...(snowflake && { snowflake: snowflake.health }),
    };
    return { [key]: health } as Record<Key, LeafHealth>;
  }
}
