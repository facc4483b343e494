import { Injectable, type InjectionToken, Optional } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { EmbeddedIdService } from '../runtime/embedded-id-service';
import { type Health, type HealthStatus, worstPart } from '../runtime/health';

export interface LeafHealth {
  /** For Terminus: `up` also if IDs are issued, but the state is degraded. With Terminus 12 it is `degraded` then. */
  readonly status: 'up' | 'down';
  /** The state of the worst mode. */
  readonly state: HealthStatus;
  readonly segment?: Health;
  readonly snowflake?: Health;
}

/** The token of the logger of Terminus 10 and earlier; later versions have another one. */
const TERMINUS_10_LOGGER = 'TERMINUS_LOGGER';

/** The helper of Terminus 11 and later; that of version 12 also composes `degraded`. */
interface HealthIndicatorService {
  check(key: string): object;
}

/** How the Terminus of an application reads the result of an indicator. */
interface Terminus {
  readonly expectsErrors: boolean;
  readonly knowsDegraded: boolean;
}

/**
 * A health indicator for @nestjs/terminus 10, 11 and 12: whether IDs are available.
 *
 * @example health.check([() => leaf.check('leaf')])
 */
@Injectable()
export class LeafHealthIndicator {
  private found: Terminus | undefined;

  constructor(
    private readonly ids: EmbeddedIdService,
    @Optional() private readonly modules?: ModulesContainer,
  ) {}

  /**
   * The health of each mode, under `key`.
   *
   * @throws an error with the same health in `causes`, which Terminus 10 needs, if the health is down and the
   *   application uses Terminus 10
   */
  check<Key extends string>(key: Key): Record<Key, LeafHealth> {
    const { segment, snowflake } = this.ids.readiness();
    const state = worstPart([segment?.health, snowflake?.health])?.status ?? 'up';
    const terminus = (this.found ??= this.terminus());
    const status = state === 'degraded' && !terminus.knowsDegraded ? 'up' : state;
    const health = {
      ...{ status, state },
      ...(segment && { segment: segment.health }),
      ...(snowflake && { snowflake: snowflake.health }),
    };
    // The types of Terminus 10 and 11 do not know `degraded`.
    const result = { [key]: health } as Record<Key, LeafHealth>;
    if (state !== 'down' || !terminus.expectsErrors) return result;
    throw Object.assign(new Error('Leaf issues no IDs.'), { isHealthCheckError: true, causes: result });
  }

  /** Of this application, by its providers: the package is not loaded here. */
  private terminus(): Terminus {
    for (const { providers } of this.modules?.values() ?? []) {
      if (providers.has(TERMINUS_10_LOGGER)) return { expectsErrors: true, knowsDegraded: false };
      const token = [...providers.keys()].find(isIndicatorService);
      if (token === undefined) continue;
      const service = providers.get(token)?.instance as Partial<HealthIndicatorService> | undefined;
      // The application may have a class of this name, too.
      if (service?.check === undefined) continue;
      return { expectsErrors: false, knowsDegraded: 'degraded' in service.check('leaf') };
    }
    return { expectsErrors: false, knowsDegraded: false };
  }
}

function isIndicatorService(token: InjectionToken): boolean {
  return typeof token === 'function' && token.name === 'HealthIndicatorService';
}
