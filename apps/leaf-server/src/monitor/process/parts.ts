import { Injectable, Optional } from '@nestjs/common';
import { SegmentStore } from '@leaf/core';
import { SegmentService } from '@leaf/segment';
import { SnowflakeService } from '@leaf/snowflake';
import { Drain } from '../../lifecycle/drain';
import { DatabaseProbe } from '../sampling/database-probe';
import { hundredths } from '../sampling/round-off';
import type { PartStatus, PartView } from '../views/views';

/** What this server stands on and is made of, and how each of it is. */
@Injectable()
export class Parts {
  constructor(
    private readonly drain: Drain,
    private readonly probe: DatabaseProbe,
    @Optional() private readonly store?: SegmentStore,
    @Optional() private readonly segments?: SegmentService,
    @Optional() private readonly snowflake?: SnowflakeService,
  ) {}

  all(): PartView[] {
    return [
      this.segmentMode(),
      this.database(),
      this.snowflakeMode(),
      this.registry(),
      this.clock(),
      part('drain', this.drain.active ? 'down' : 'up', '', this.drain.active ? this.drain.reason : undefined),
    ];
  }

  /** Without the database it goes on from memory. */
  private segmentMode(): PartView {
    if (this.segments === undefined) return off('segment');
    const { lastError, lastSuccessAt } = this.segments.refreshSnapshot();
    const status = lastSuccessAt === undefined ? 'down' : 'degraded';
    const reason = lastError ?? this.probe.state.reason ?? undefined;
    const { tagCount } = this.segments;
    return part(
      'segment',
      reason === undefined ? 'up' : status,
      `${tagCount} ${tagCount === 1 ? 'tag' : 'tags'}`,
      reason,
    );
  }

  private database(): PartView {
    if (this.store === undefined) return off('database');
    const { status, reason } = this.probe.state;
    return part('database', status, this.store.description, reason ?? undefined);
  }

  private snowflakeMode(): PartView {
    if (this.snowflake === undefined) return off('snowflake');
    const refusal = this.snowflake.refusal();
    const { lease } = this.snowflake.snapshot();
    const description = workerName(lease.workerId);
    if (refusal !== undefined) return part('snowflake', 'down', description, refusal.message);
    const trouble = lease.report.lastError ?? this.snowflake.registryTrouble;
    return part('snowflake', trouble === undefined ? 'up' : 'degraded', description, trouble);
  }

  private registry(): PartView {
    if (this.snowflake === undefined) return off('registry');
    const { lease } = this.snowflake.snapshot();
    const description = `${lease.registry}, ${workerName(lease.workerId)}`;
    if (lease.lost !== undefined) return part('registry', 'down', description, lease.lost);
    const trouble = lease.report.lastError ?? this.snowflake.registryTrouble;
    return part('registry', trouble === undefined ? 'up' : 'degraded', description, trouble);
  }

  private clock(): PartView {
    if (this.snowflake === undefined) return off('clock');
    const { clockOffsetMs: offset } = this.snowflake.snapshot();
    const refusal = this.snowflake.refusal();
    const description =
      offset === undefined
        ? 'compared with nobody'
        : `${hundredths(Math.abs(offset))} ms ${offset < 0 ? 'behind' : 'ahead of'} the others at the start`;
    if (refusal?.code !== 'LEAF_CLOCK_BACKWARDS') return part('clock', 'up', description);
    return part('clock', 'down', description, refusal.message);
  }
}

function workerName(workerId: number | undefined): string {
  return workerId === undefined ? 'no worker' : `worker ${workerId}`;
}

function off(name: PartView['name']): PartView {
  return part(name, 'off', '');
}

function part(name: PartView['name'], status: PartStatus, description: string, reason?: string): PartView {
  return { name, status, description, reason: reason ?? null };
}
