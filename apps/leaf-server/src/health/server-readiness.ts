import { Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { type Gathered, WorkerBus, BusRequest } from '../cluster/worker-bus';
import { Readiness } from '../lifecycle/readiness';

interface ProcessReadiness {
  readonly listening: boolean;
  readonly parts: HealthIndicatorResult;
}

type PartState = HealthIndicatorResult[string];

const READINESS = new BusRequest<undefined, ProcessReadiness>('readiness');
const WORST = ['down', 'degraded', 'up'];

/**
 * Whether requests may come to the server, whichever of its processes gets them: each one that takes connections has to
 * be ready. One that is stuck, or being replaced, takes none, and the others serve meanwhile: the server is degraded.
 */
@Injectable()
export class ServerReadiness {
  constructor(
    private readonly own: Readiness,
    private readonly bus: WorkerBus,
    private readonly indicators: HealthIndicatorService,
  ) {
    bus.serve(READINESS, () => ({
      listening: own.listening,
      parts: Object.assign({}, ...own.checks().map((check) => check())) as HealthIndicatorResult,
    }));
  }

  /** What each part says. */
  async checks(): Promise<(() => HealthIndicatorResult)[]> {
    if (this.bus.count === 1) return this.own.checks();
    const gathered = await this.bus.ask(READINESS, undefined);
    const parts = [worstOf(gathered), this.processes(gathered)];
    return parts.flatMap((part) => Object.entries(part).map(([name, state]) => () => ({ [name]: state })));
  }

  private processes({ answers, missing }: Gathered<ProcessReadiness>): HealthIndicatorResult {
    const check = this.indicators.check('processes');
    const away = [
      ...answers.filter(({ value }) => !value.listening).map(({ process }) => `process ${process}: it is starting`),
      ...missing.map(({ process, reason }) => `process ${process}: ${reason}`),
    ];
    return away.length === 0 ? check.up() : check.degraded(`Not all processes serve. ${away.sort().join('; ')}`);
  }
}

/** Of each part the worst state, and whose it is unless all is well. */
function worstOf({ answers }: Gathered<ProcessReadiness>): HealthIndicatorResult {
  const worst: Record<string, PartState> = {};
  for (const { process, value } of answers.filter(({ value: { listening } }) => listening)) {
    for (const [name, state] of Object.entries(value.parts)) {
      const before = worst[name];
      if (before !== undefined && rank(before) <= rank(state)) continue;
      worst[name] = state.status === 'up' ? state : { ...state, process };
    }
  }
  return worst;
}

function rank({ status }: PartState): number {
  return WORST.indexOf(status);
}
