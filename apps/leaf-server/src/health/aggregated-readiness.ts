import { Injectable } from '@nestjs/common';
import { mergeReadiness, type ServerHealth, ServerStatus } from '../processes/merge-status';
import { type Gathered, ProcessBus } from '../processes/process-bus';
import { type ProcessReadiness, Readiness, readinessOf } from '../lifecycle/readiness';

export type Mode = 'segment' | 'snowflake';

/** A check in the form of @nestjs/terminus. */
type Check = () => Record<string, ServerHealth>;

/**
 * Whether requests may come to the server, whichever of its processes gets them: each one that takes connections has to
 * be ready. One that is stuck, or being replaced, takes none, and the others serve meanwhile: the server is degraded.
 */
@Injectable()
export class AggregatedReadiness {
  constructor(
    private readonly own: Readiness,
    private readonly bus: ProcessBus,
    private readonly status: ServerStatus,
  ) {}

  /**
   * One check of each part.
   *
   * @param mode the only one that callers use: a fault of the other mode does not count
   */
  async checks(mode?: Mode): Promise<Check[]> {
    const parts = await this.parts();
    return Object.entries(mode === undefined ? parts : partsOf(mode, parts)).map(([name, health]) => () => ({
      [name]: health,
    }));
  }

  private async parts(): Promise<Record<string, ServerHealth>> {
    if (this.bus.count === 1) return readinessOf(this.own.current());
    const gathered = await this.status.gatherReadiness();
    return { ...mergeReadiness(gathered), processes: processesOf(gathered) };
  }
}

function partsOf(mode: Mode, parts: Record<string, ServerHealth>): Record<string, ServerHealth> {
  const other = mode === 'segment' ? 'snowflake' : 'segment';
  const off: ServerHealth = { status: 'down', message: `LEAF_${mode.toUpperCase()}_ENABLED is false on this server.` };
  const all = Object.entries({ [mode]: off, ...parts });
  return Object.fromEntries(all.filter(([name]) => name !== other));
}

function processesOf({ answers, missing }: Gathered<ProcessReadiness>): ServerHealth {
  const away = [
    ...answers.filter(({ value }) => !value.listening).map(({ process }) => `process ${process}: it is starting`),
    ...missing.map(({ process, reason }) => `process ${process}: ${reason}`),
  ];
  if (away.length === 0) return { status: 'up' };
  return { status: 'degraded', message: `Not all processes serve. ${away.sort().join('; ')}` };
}
