import { Injectable } from '@nestjs/common';
import type { ProcessStatus } from '../lifecycle/process-status';
import { Readiness } from '../lifecycle/readiness';
import { type Gathered, WorkerBus, BusRequest } from './worker-bus';

const STATUS = new BusRequest<undefined, ProcessStatus>('status');

/** How the processes of this server are. */
@Injectable()
export class ServerStatus {
  constructor(
    private readonly bus: WorkerBus,
    readiness: Readiness,
  ) {
    bus.serve(STATUS, () => readiness.status());
  }

  gather(): Promise<Gathered<ProcessStatus>> {
    return this.bus.ask(STATUS, undefined);
  }
}
