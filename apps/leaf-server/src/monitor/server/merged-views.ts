import type { Gathered } from '../../cluster/worker-bus';
import { hundredths } from '../sampling/round-off';
import { type LatencyCounts, toLatencyView } from '../sampling/latency-window';
import type { HistoryView, OverviewView, PartStatus, PartView, ProcessView, SnowflakeView } from '../views/views';

/** What one process says of itself. */
export interface ProcessOverview {
  readonly view: OverviewView;
  readonly latency: LatencyCounts;
  /** Whether it takes connections. */
  readonly listening: boolean;
}

/** From the best to the worst. */
const STATUSES: readonly PartStatus[] = ['off', 'up', 'degraded', 'down'];

const UNKNOWN = { ready: false, startedAt: null, workerId: null, issued: null, rate: null };

/** @param process whose clock and history the others are brought in line with */
export function mergeOverviews(gathered: Gathered<ProcessOverview>, process: number): OverviewView {
  const { answers } = gathered;
  const own = (answers.find((answer) => answer.process === process) ?? answers[0])?.value as ProcessOverview;
  const views = answers.map(({ value }) => value.view);
  const sum = (of: (view: OverviewView) => number): number => views.reduce((total, view) => total + of(view), 0);
  const serving = answers.filter(({ value }) => value.listening);
  return {
    ...own.view,
    instance: answers[0]?.value.view.instance ?? own.view.instance,
    startedAt: Math.min(...views.map(({ startedAt }) => startedAt)),
    ready: serving.length > 0 && serving.every(({ value }) => value.view.ready),
    parts: own.view.parts.map(({ name }) => mergePart(name, serving.length > 0 ? serving : answers)),
    issued: { segment: sum(({ issued }) => issued.segment), snowflake: sum(({ issued }) => issued.snowflake) },
    rate: {
      segment: hundredths(sum(({ rate }) => rate.segment)),
      snowflake: hundredths(sum(({ rate }) => rate.snowflake)),
    },
    errorRate: hundredths(sum(({ errorRate }) => errorRate)),
    latencyMs: toLatencyView(sumLatencies(answers.map(({ value }) => value.latency))),
    history: mergeHistories(
      own.view.history,
      views.map(({ history }) => history),
    ),
    processes: processViews(gathered),
  };
}

export function mergeSnowflakes({ answers }: Gathered<SnowflakeView>, process: number): SnowflakeView {
  const own = (answers.find((answer) => answer.process === process) ?? answers[0])?.value as SnowflakeView;
  const refused = answers.find(({ value }) => value.refusal !== null);
  const refusal = refused?.value.refusal ?? null;
  return {
    ...own,
    worker: answers.find(({ value }) => value.worker !== null)?.value.worker ?? null,
    workers: answers.flatMap(({ value }) => value.workers),
    refusal: refusal && { ...refusal, detail: `Process ${refused?.process ?? 0}: ${refusal.detail}` },
  };
}

/** The worst of each part, and of which process it is. */
function mergePart(name: PartView['name'], answers: Gathered<ProcessOverview>['answers']): PartView {
  const parts = answers.flatMap(({ process, value }) =>
    value.view.parts.filter((part) => part.name === name).map((part) => ({ process, part })),
  );
  const worst = parts.reduce((bad, each) =>
    STATUSES.indexOf(each.part.status) > STATUSES.indexOf(bad.part.status) ? each : bad,
  );
  const description = [...new Set(parts.map(({ part }) => part.description))].join(' · ');
  const { status, reason } = worst.part;
  return { name, status, description, reason: reason && `Process ${worst.process}: ${reason}` };
}

/** Steps of two processes begin up to one step apart: those that ended last are taken together. */
function mergeHistories(own: HistoryView, all: readonly HistoryView[]): HistoryView {
  const sum = (of: (history: HistoryView) => readonly number[]): number[] =>
    of(own).map((_, index, steps) => {
      const back = steps.length - index;
      return hundredths(all.reduce((total, history) => total + (of(history).at(-back) ?? 0), 0));
    });
  return {
    ...own,
    segment: sum(({ segment }) => segment),
    snowflake: sum(({ snowflake }) => snowflake),
    errors: sum(({ errors }) => errors),
  };
}

function sumLatencies(all: readonly LatencyCounts[]): LatencyCounts {
  const buckets = (all[0]?.buckets ?? []).map(({ bound }, index) => ({
    bound,
    count: all.reduce((sum, each) => sum + (each.buckets[index]?.count ?? 0), 0),
  }));
  return { buckets, total: all.reduce((sum, { total }) => sum + total, 0) };
}

function processViews({ answers, missing }: Gathered<ProcessOverview>): ProcessView[] {
  const views = [
    ...answers.flatMap(({ value: { view, listening } }) =>
      listening ? view.processes : view.processes.map((each) => ({ ...each, ready: false, reason: 'It is starting.' })),
    ),
    ...missing.map(({ process, reason }) => ({ ...UNKNOWN, process, reason })),
  ];
  return views.sort((a, b) => a.process - b.process);
}
