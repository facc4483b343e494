import type { Server } from 'node:http';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Leaf } from '@leaf-ids/id';
import { withVariables } from '../config/option-variables';
import { Drain } from './drain';
import { isReady, type ProcessReadiness, type ProcessStatus } from './process-status';

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
