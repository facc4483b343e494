import { Injectable } from '@nestjs/common';
import type { ProcessReadiness, ProcessStatus } from '../lifecycle/process-status';
import { Readiness } from '../lifecycle/readiness';
import { type Gathered, ProcessBus, BusRequest } from './process-bus';

const STATUS = new BusRequest<undefined, ProcessStatus>('status');
const READINESS = new BusRequest<undefined, ProcessReadiness>('readiness');

/** The status of each process of this server. */
@Injectable()
export class ServerStatus {
  constructor(
    private readonly bus: ProcessBus,
    readiness: Readiness,
  ) {
    bus.serve(STATUS, () => readiness.status());
    bus.serve(READINESS, () => readiness.current());
  }

  gather(): Promise<Gathered<ProcessStatus>> {
    return this.bus.ask(STATUS, undefined);
  }

  /** Readiness for probes; its cost does not depend on the number of tags. */
  gatherReadiness(): Promise<Gathered<ProcessReadiness>> {
    return this.bus.ask(READINESS, undefined);
  }
}
