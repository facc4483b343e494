import type { LeafModeHealth, LeafStatus } from '@leaf-ids/id';
import { worstPart } from '@leaf-ids/id/internal';
import { isServerReady, servingOf } from '../../processes/merge-status';
import type { Gathered } from '../../processes/process-bus';
import { isReady, type ProcessStatus } from '../../lifecycle/readiness';
import { type LatencyCounts, round2, toLatencyView, type TrafficCounts } from '../sampling/traffic';
import type { HistoryView, OverviewView, PartView, ProcessView, ServerState } from '../views/views';

/** Report of one process. */
export interface ProcessOverview {
  readonly status: ProcessStatus;
  readonly blockedClients: readonly string[];
  readonly instance: string;
  readonly startedAt: number;
  readonly rates: TrafficCounts;
  readonly latency: LatencyCounts;
  readonly history: HistoryView;
}

const UNKNOWN = { ready: false, startedAt: null, workerId: null, issued: null, rate: null };

/** @param own what this process tells: the clocks and histories of the others are brought in line with it */
export function toOverview(
  gathered: Gathered<ProcessOverview>,
  own: ProcessOverview,
  { name, version }: { readonly name: string; readonly version: string },
): OverviewView {
  const { answers } = gathered;
  const all = answers.map(({ value }) => value);
  const serving = servingOf(answers, ({ status }) => status);
  const shown = serving.length > 0 ? serving : answers;
  const rate = (of: keyof TrafficCounts): number => round2(sum(all, ({ rates }) => rates[of]));
  const ready = isServerReady(serving.map(({ value }) => value.status));
  const parts = mergeParts(shown.map(({ process, value }) => ({ process, value: partViews(value.status) })));
  return {
    name,
    version,
    instance: all[0]?.instance ?? own.instance,
    now: own.status.leaf.now,
    startedAt: Math.min(...all.map(({ startedAt }) => startedAt)),
    ready,
    state: stateOf(
      ready,
      shown.map(({ value }) => value.status),
    ),
    reason: worstPart(parts)?.reason ?? null,
    parts,
    blockedClients: [...new Set(all.flatMap(({ blockedClients }) => blockedClients))].sort(),
    issued: {
      segment: sum(all, (each) => issuedBy(each).segment),
      snowflake: sum(all, (each) => issuedBy(each).snowflake),
    },
    rate: { segment: rate('segment'), snowflake: rate('snowflake') },
    errorRate: rate('errors'),
    latencyMs: toLatencyView(sumLatencies(all.map(({ latency }) => latency))),
    history: mergeHistories(
      own.history,
      all.map(({ history }) => history),
    ),
    processes: processViews(gathered),
  };
}

function stateOf(ready: boolean, processes: readonly ProcessStatus[]): ServerState {
  if (processes.some(({ drain }) => drain.status === 'down')) return 'draining';
  const healths = processes.flatMap(({ leaf: { segment, database, snowflake, registry } }) =>
    [segment, database, snowflake, registry].map((part) => part?.health),
  );
  if (ready) return ['degraded', 'down'].includes(worstPart(healths)?.status ?? 'up') ? 'degraded' : 'ready';
  // Segment mode is down only before it has read the tags once.
  const isStarting = processes.some(
    ({ leaf: { segment, snowflake } }) =>
      segment?.health.status === 'down' || snowflake?.health.code === 'LEAF_NOT_READY',
  );
  return isStarting ? 'starting' : 'down';
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function issuedBy({ status: { leaf } }: ProcessOverview): OverviewView['issued'] {
  return { segment: leaf.segment?.issued ?? 0, snowflake: leaf.snowflake?.issued ?? 0 };
}

/** Steps of two processes begin up to one step apart: those that ended last are taken together. */
function mergeHistories(own: HistoryView, all: readonly HistoryView[]): HistoryView {
  const merge = (of: (history: HistoryView) => readonly number[]): number[] =>
    of(own).map((_, index, steps) => round2(sum(all, (history) => of(history).at(index - steps.length) ?? 0)));
  return {
    ...own,
    segment: merge(({ segment }) => segment),
    snowflake: merge(({ snowflake }) => snowflake),
    errors: merge(({ errors }) => errors),
  };
}

function sumLatencies(all: readonly LatencyCounts[]): LatencyCounts {
  const buckets = (all[0]?.buckets ?? []).map(({ bound }, index) => ({
    bound,
    count: sum(all, (each) => each.buckets[index]?.count ?? 0),
  }));
  return { buckets, total: sum(all, ({ total }) => total) };
}

function processViews({ answers, missing }: Gathered<ProcessOverview>): ProcessView[] {
  const views = [
    ...answers.map(({ process, value }) => processView(process, value)),
    ...missing.map(({ process, reason }) => ({ ...UNKNOWN, process, reason })),
  ];
  return views.sort((a, b) => a.process - b.process);
}

function processView(process: number, overview: ProcessOverview): ProcessView {
  const { status, startedAt, rates } = overview;
  return {
    process,
    ready: status.listening && isReady(status),
    reason: status.listening ? null : 'It is starting.',
    startedAt,
    workerId: status.leaf.snowflake?.workerId ?? null,
    issued: issuedBy(overview),
    rate: { segment: rates.segment, snowflake: rates.snowflake },
  };
}

/** The parts of a process with their states. */
function partViews({ drain, leaf }: ProcessStatus): PartView[] {
  const { segment, database, snowflake, registry } = leaf;
  const worker = snowflake?.workerId === undefined ? 'no worker' : `worker ${snowflake.workerId}`;
  return [
    part('segment', segment?.health, `${segment?.tags} ${segment?.tags === 1 ? 'tag' : 'tags'}`),
    part('database', database?.health, database?.description),
    part('snowflake', snowflake?.health, worker),
    part('registry', registry?.health, `${registry?.description}, ${worker}`),
    clock(leaf),
    part('drain', drain),
  ];
}

/** The worst of each part, and of which process it is. */
function mergeParts(processes: readonly { readonly process: number; readonly value: PartView[] }[]): PartView[] {
  const [first] = processes;
  if (first === undefined || processes.length === 1) return first?.value ?? [];
  return first.value.map((own, index) => {
    const parts = processes.map(({ process, value }) => ({ ...own, ...value[index], process }));
    const { process, ...worst } = worstPart(parts) ?? { ...own, process: first.process };
    const description = [...new Set(parts.map(({ description }) => description))].join(' · ');
    return { ...worst, description, reason: worst.reason && `Process ${process}: ${worst.reason}` };
  });
}

function clock({ snowflake }: LeafStatus): PartView {
  const offset = snowflake?.clockOffsetMs;
  const description =
    offset === undefined
      ? 'not compared with another clock'
      : `${round2(Math.abs(offset))} ms ${offset < 0 ? 'behind' : 'ahead of'} the others at the start`;
  const isBehind = snowflake?.health.code === 'LEAF_CLOCK_BACKWARDS';
  return part('clock', isBehind ? snowflake.health : snowflake && { status: 'up' }, description);
}

/** @param health undefined of what is off */
function part(name: PartView['name'], health: LeafModeHealth | undefined, description = ''): PartView {
  if (health === undefined) return { name, status: 'off', description: '', reason: null };
  return { name, status: health.status, description, reason: health.message ?? null };
}
