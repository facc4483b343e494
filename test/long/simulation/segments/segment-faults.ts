import type { SeededRandom } from '../../../support/seeded-random';

/** Every kind of fault of databases and of servers with segment IDs, in the order in which they are printed. */
export const SEGMENT_FAULTS = [
  'server killed',
  'server stopped',
  'line bad',
  'database down',
  'list of databases changed',
  'row restored',
  'row inserted again',
  'row deleted for a while',
  'period row deleted',
  'period row restored',
  'share deleted for a while',
  'table truncated',
  'table and records truncated',
  'database older',
  'database older, restore command',
  'failover',
  'tag deleted and created',
] as const;
export type SegmentFaultKind = (typeof SEGMENT_FAULTS)[number];
export type SegmentFaultCounts = Record<SegmentFaultKind, number>;

export function noSegmentFaults(): SegmentFaultCounts {
  return Object.fromEntries(SEGMENT_FAULTS.map((kind) => [kind, 0])) as SegmentFaultCounts;
}

/** All faults of a world are drawn before it starts, so that any of them can be left out. */
export interface SegmentFault {
  readonly kind: SegmentFaultKind;
  /** The step in which it happens. */
  readonly at: number;
  /** The step from which on the changes are lost. */
  readonly from: number;
  /** The step in which it ends. */
  readonly until: number;
  readonly server: number;
  readonly database: number;
  readonly tag: number;
  /** From 0 to 1: where between 1 and its end a row begins again. */
  readonly place: number;
}

export interface SegmentConditions {
  readonly servers: number;
  /** Of the list, or 1: the database that servers without a list have. */
  readonly databases: number;
  /** IDs of a block of the interleaved tag. */
  readonly block: number;
  readonly steps: number;
  readonly prefetchRatio: number;
}

const MAX_FAULTS = 9;
const EVERYDAY: readonly SegmentFaultKind[] = [
  'server killed',
  'server stopped',
  'line bad',
  'line bad',
  'database down',
];
const OF_LISTS: readonly SegmentFaultKind[] = ['list of databases changed', 'share deleted for a while'];

export function drawSegments(random: SeededRandom): {
  readonly conditions: SegmentConditions;
  readonly faults: readonly SegmentFault[];
} {
  const conditions: SegmentConditions = {
    servers: 1 + random.below(3),
    databases: random.pick([1, 1, 2, 3]),
    block: random.pick([1, 5, 20]),
    steps: 120,
    prefetchRatio: random.pick([0.1, 0.5, 1]),
  };
  const isList = conditions.databases > 1;
  const rare = SEGMENT_FAULTS.filter((kind) => !EVERYDAY.includes(kind) && (isList || !OF_LISTS.includes(kind)));
  const faults = Array.from({ length: 1 + random.below(MAX_FAULTS) }, () => {
    const kinds = random.chance(0.4) ? EVERYDAY : rare;
    return drawFault(random, conditions, kinds[random.below(kinds.length)] ?? 'server killed');
  });
  return { conditions, faults: faults.sort((a, b) => a.at - b.at) };
}

function drawFault(random: SeededRandom, conditions: SegmentConditions, kind: SegmentFaultKind): SegmentFault {
  const { steps, servers, databases } = conditions;
  const at = 5 + random.below(steps - 15);
  return {
    ...{ kind, at, from: Math.max(1, at - Math.ceil(random.spread(1, 60))) },
    until: Math.min(steps - 1, at + Math.ceil(random.spread(1, 30))),
    ...{ server: random.below(servers), database: random.below(databases), tag: random.below(1000) },
    place: random.chance(0.5) ? 0 : random.fraction(),
  };
}
