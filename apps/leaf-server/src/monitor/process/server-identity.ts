import { Inject, Injectable } from '@nestjs/common';
import { Clock, formatInstance } from '@leaf-ids/core';
import { DEFAULT_SEGMENT_OPTIONS } from '@leaf-ids/core/internal';
import { LEAF_CONFIG } from '../../config/config.module';
import type { LeafConfig } from '../../config/leaf-config';
import { serverVersion } from '../../config/version';

/** Properties that do not change while this server runs. */
@Injectable()
export class ServerIdentity {
  readonly version = serverVersion();
  readonly name: string;
  /** `ip:port` by which the other servers know this one. */
  readonly instance: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Share of a segment that is used when the next one is fetched. */
  readonly prefetchRatio: number;

  constructor(
    @Inject(LEAF_CONFIG) { name, instance, ids }: Pick<LeafConfig, 'name' | 'instance' | 'ids'>,
    clock: Clock,
  ) {
    this.name = name;
    this.instance = formatInstance(instance);
    this.startedAt = clock.now();
    this.prefetchRatio = ids.segment?.prefetchRatio ?? DEFAULT_SEGMENT_OPTIONS.prefetchRatio;
  }
}
