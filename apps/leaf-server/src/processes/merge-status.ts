import type { LeafModeHealth } from '@leaf-ids/id';
import { worstPart } from '@leaf-ids/id/internal';
import { Injectable } from '@nestjs/common';
import { isReady, type ProcessReadiness, type ProcessStatus, Readiness, readinessOf } from '../lifecycle/readiness';
import { BusRequest, type Gathered, ProcessBus } from './process-bus';

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

type OfProcess<Value> = Gathered<Value>['answers'][number];

/** Health of one part, with the process that reports it unless it is up. */
export interface ServerHealth extends LeafModeHealth {
  readonly process?: number;
}

/** Those that take connections: how the others are does not matter to requests. */
export function servingOf<Answer>(
  answers: readonly OfProcess<Answer>[],
  ofAnswer: (answer: Answer) => ProcessReadiness,
): OfProcess<Answer>[] {
  return answers.filter(({ value }) => ofAnswer(value).listening);
}

/** Each process that takes connections has to be ready, whichever of them gets the request. */
export function isServerReady(serving: readonly ProcessReadiness[]): boolean {
  return serving.length > 0 && serving.every(isReady);
}

/** The parts that decide whether requests may come, each as in the process where it is worst. */
export function mergeReadiness({ answers }: Gathered<ProcessReadiness>): Record<string, ServerHealth> {
  const merged: Record<string, ServerHealth> = {};
  for (const { process, value } of servingOf(answers, (readiness) => readiness)) {
    for (const [name, part] of Object.entries(readinessOf(value))) {
      const shown = part.status === 'up' ? part : { ...part, process };
      merged[name] = worstPart<ServerHealth>([merged[name], shown]) ?? shown;
    }
  }
  return merged;
}
