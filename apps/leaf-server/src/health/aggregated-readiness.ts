import { Injectable } from '@nestjs/common';
import { mergeReadiness, type ServerHealth } from '../cluster/merge-status';
import { ServerStatus } from '../cluster/server-status';
import { type Gathered, WorkerBus } from '../cluster/worker-bus';
import { type ProcessReadiness, readinessOf } from '../lifecycle/process-status';
import { Readiness } from '../lifecycle/readiness';

/** As @nestjs/terminus takes it. */
type Check = () => Record<string, ServerHealth>;

/**
 * Whether requests may come to the server, whichever of its processes gets them: each one that takes connections has to
 * be ready. One that is stuck, or being replaced, takes none, and the others serve meanwhile: the server is degraded.
 */
@Injectable()
export class AggregatedReadiness {
  constructor(
    private readonly own: Readiness,
    private readonly bus: WorkerBus,
    private readonly status: ServerStatus,
  ) {}

  /** One check of each part. */
  async checks(): Promise<Check[]> {
    return Object.entries(await this.parts()).map(([name, health]) => () => ({ [name]: health }));
  }

  private async parts(): Promise<Record<string, ServerHealth>> {
    if (this.bus.count === 1) return readinessOf(this.own.current());
    const gathered = await this.status.gatherReadiness();
    return { ...mergeReadiness(gathered), processes: processesOf(gathered) };
  }
}

function processesOf({ answers, missing }: Gathered<ProcessReadiness>): ServerHealth {
  const away = [
    ...answers.filter(({ value }) => !value.listening).map(({ process }) => `process ${process}: it is starting`),
    ...missing.map(({ process, reason }) => `process ${process}: ${reason}`),
  ];
  if (away.length === 0) return { status: 'up' };
  return { status: 'degraded', message: `Not all processes serve. ${away.sort().join('; ')}` };
}
