import type { Server } from 'node:http';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Leaf, type LeafModeHealth, type LeafReadiness, type LeafStatus } from '@leaf-ids/id';
import { worstPart } from '@leaf-ids/id/internal';
import { withVariables } from '../config/variables';
import { Drain } from './drain';

/** Whether requests may come to this process. */
@Injectable()
export class Readiness {
  constructor(
    private readonly drain: Drain,
    private readonly host: HttpAdapterHost,
    private readonly leaf: Leaf,
  ) {}

  get ready(): boolean {
    return isReady(this.current());
  }

  /** Takes the same time with any number of tags. */
  current(): ProcessReadiness {
    const { active, reason } = this.drain;
    return {
      listening: (this.host.httpAdapter.getHttpServer() as Server).listening,
      drain: active ? { status: 'down', message: reason } : { status: 'up' },
      leaf: withVariables(this.leaf.readiness()),
    };
  }

  /** Adds up the counts of all tags. */
  status(): ProcessStatus {
    return { ...this.current(), leaf: withVariables(this.leaf.status()) };
  }
}

/** Whether one process of the server is ready, as plain data: probes read this. */
export interface ProcessReadiness {
  /** Whether it takes connections. One that takes the place of another process waits until it is ready. */
  readonly listening: boolean;
  /** Down while it wants no more requests. */
  readonly drain: LeafModeHealth;
  readonly leaf: LeafReadiness;
}

/** The status of one process, as plain data: metrics, monitor and console read this. */
export interface ProcessStatus extends ProcessReadiness {
  readonly leaf: LeafStatus;
}

/** The parts that decide whether requests may come. */
export function readinessOf({ drain, leaf: { segment, snowflake } }: ProcessReadiness): Record<string, LeafModeHealth> {
  return {
    drain,
    ...(segment && { segment: segment.health }),
    ...(snowflake && { snowflake: snowflake.health }),
  };
}

export function isReady(status: ProcessReadiness): boolean {
  return worstPart(Object.values(readinessOf(status)))?.status !== 'down';
}
