import { Injectable, Optional } from '@nestjs/common';
import { Clock, formatInstance, type StoredWorker } from '@leaf-ids/core';
import { windowOf } from '@leaf-ids/core/internal';
import { SnowflakeService } from '@leaf-ids/id';
import { CachedRead } from '../monitor/sampling/cached-read';
import { type ClusterWorker, type ClusterWorkers, KEPT_MS } from './views';

/** The records of the worker IDs in the registry, which is read at most once a second. */
@Injectable()
export class WorkerMap {
  private readonly records: CachedRead<readonly StoredWorker[]> | undefined;

  constructor(
    private readonly clock: Clock,
    @Optional() private readonly snowflake?: SnowflakeService,
  ) {
    this.records = snowflake && new CachedRead(() => snowflake.records(), KEPT_MS, clock);
  }

  /** @throws LeafError `LEAF_REGISTRY_UNREACHABLE` */
  async view(): Promise<ClusterWorkers> {
    const records = (await this.records?.get()) ?? [];
    const now = this.clock.now();
    const workers = records.map((stored) => toView(stored, now)).sort((a, b) => a.workerId - b.workerId);
    return { workerIds: this.snowflake === undefined ? 0 : this.snowflake.layout.maxWorkerId + 1, now, workers };
  }
}

function toView({ workerId, record }: StoredWorker, now: number): ClusterWorker {
  const { instance, ceiling, free } = record;
  const window = windowOf(record);
  return {
    workerId,
    kind: window === undefined ? 'server' : 'window',
    holder: window?.holder ?? formatInstance(instance),
    state: free ? 'released' : ceiling > now ? 'held' : 'expired',
    ceiling,
  };
}
