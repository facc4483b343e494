import type { Server } from 'node:http';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Leaf } from '@leaf-ids/id';
import { Drain } from './drain';
import { isReady, type ProcessStatus } from './process-status';

/** Whether requests may come to this process. */
@Injectable()
export class Readiness {
  constructor(
    private readonly drain: Drain,
    private readonly host: HttpAdapterHost,
    private readonly leaf: Leaf,
  ) {}

  get ready(): boolean {
    return isReady(this.status());
  }

  status(): ProcessStatus {
    const { active, reason } = this.drain;
    return {
      listening: (this.host.httpAdapter.getHttpServer() as Server).listening,
      drain: active ? { status: 'down', message: reason } : { status: 'up' },
      leaf: this.leaf.status(),
    };
  }
}
