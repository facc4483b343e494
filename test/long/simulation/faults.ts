import type { Conditions } from './conditions';
import type { SeededRandom } from '../../support/seeded-random';

/** Faults of client processes; `process` is the number of the client. */
export const CLIENT_FAULTS = [
  'client crash',
  'client stop',
  'client pause',
  'client clock step',
  'client cut off',
] as const;
export type ClientFaultKind = (typeof CLIENT_FAULTS)[number];

/** Every kind of fault that is injected, in the order in which they are printed. */
export const FAULTS = [
  'crash',
  'stop',
  'rolling replacement',
  'pause',
  'machine suspended',
  'pause inside a call',
  'clock step',
  'clock drift',
  'lost request',
  'lost answer',
  'late write',
  'crash at a request',
  'crash at an answer',
  'host cut off',
  'registry down',
  'directory copied',
  'directory removed',
  'directory restored',
  'disk lost',
  'process cloned',
  'process rolled back',
  'failover',
  'registry emptied',
  'document deleted',
  ...CLIENT_FAULTS,
] as const;

export type FaultKind = (typeof FAULTS)[number];

/** One fault. All faults of a world are drawn before it starts, so that any of them can be left out. */
export interface Fault {
  readonly kind: FaultKind;
  /** True milliseconds since the start. */
  readonly at: number;
  readonly host: number;
  readonly process: number;
  /** How long it lasts; by how much a write or a replica is late. */
  readonly ms: number;
  /**
   * By how much a clock steps, or that of the next machine differs, in milliseconds; how much too fast it runs; how
   * many times the clock is read before a pause; how long a copy of a process runs.
   */
  readonly by: number;
}

export function isClientFault(kind: FaultKind): kind is ClientFaultKind {
  return CLIENT_FAULTS.some((each) => each === kind);
}

export type FaultCounts = Record<FaultKind, number>;

export function noFaults(): FaultCounts {
  return Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as FaultCounts;
}

const HOUR = 3_600_000;
/** ZooKeeper executes no request of a session that has expired: the sender has given up, and closed its connection. */
const SESSION_MS = 10_000;

type Kinds = [FaultKind, ...FaultKind[]];
const PROCESS: Kinds = [
  'crash',
  'crash',
  'stop',
  'rolling replacement',
  'pause',
  'machine suspended',
  'pause inside a call',
];
const REQUEST: Kinds = [
  'lost request',
  'lost answer',
  'late write',
  'late write',
  'crash at a request',
  'crash at an answer',
];
const LINE: Kinds = ['host cut off', 'registry down'];
const DISK: Kinds = ['directory copied', 'directory removed', 'directory restored'];
const FORK: Kinds = ['process cloned', 'process rolled back'];

export function drawFaults(random: SeededRandom, conditions: Conditions): Fault[] {
  const { faultyMs, history, disks, clocks, strategy, reportMs, registry, layouts, forks, calm } = conditions;
  const pools: Kinds[] = [PROCESS];
  if (strategy !== 'local') pools.push(REQUEST, REQUEST, LINE);
  if (disks) pools.push(DISK);
  if (strategy === 'fixed with file' && !clocks) pools.push(['disk lost']);
  if (forks) pools.push(FORK);
  // Small steps meet none of the conditions of excuses.ts.
  pools.push(['clock step', 'clock step', 'clock drift']);
  if (clocks) pools.push(['clock step']);
  const everyMs = reportMs * random.spread(0.5, 8);
  const faults: Fault[] = [];
  for (let at = reportMs * random.spread(0.1, 4); at < faultyMs && !calm; at += everyMs * random.spread(0.2, 2)) {
    const kind = random.pick(random.pick(pools as [Kinds, ...Kinds[]]));
    faults.push(drawFault(random, conditions, kind, at));
  }
  const losses: Kinds = ['registry emptied', 'document deleted'];
  // A ZooKeeper that goes on has all writes that it has confirmed.
  if (registry !== 'zookeeper') losses.push('failover', 'failover');
  for (let left = history ? random.pick([1, 1, 2]) : 0; left > 0; left--) {
    const kind = random.pick(layouts ? (['document deleted'] as const) : losses);
    faults.push(drawFault(random, conditions, kind, faultyMs * (0.1 + 0.8 * random.fraction())));
  }
  faults.push(...drawClientFaults(random, conditions));
  return faults.sort((a, b) => a.at - b.at);
}

function drawClientFaults(random: SeededRandom, { clients, faultyMs, boundMs, calm }: Conditions): Fault[] {
  const faults: Fault[] = [];
  if (clients === 0) return faults;
  // The servers have to issue, whatever happens to clients.
  for (let at = random.spread(500, 8000); at < faultyMs + boundMs; at += random.spread(500, 8000)) {
    const kind = calm ? 'client crash' : random.pick(CLIENT_FAULTS);
    const place = { host: 0, process: random.below(clients) };
    const by = kind === 'client clock step' ? Math.round(random.spread(1, 100_000)) * sign(random) : 0;
    faults.push({ kind, at: Math.round(at), ...place, ms: Math.round(random.spread(10, 90_000)), by });
  }
  return faults;
}

function drawFault(random: SeededRandom, conditions: Conditions, kind: FaultKind, at: number): Fault {
  const { hosts, processes, longestMs, leaseTtlMs, reportMs, timeoutMs, clocks, history, registry } = conditions;
  const place = { host: random.below(hosts), process: random.below(processes) };
  const length = Math.min(longestMs, random.spread(10, 4 * Math.min(leaseTtlMs, 60_000)));
  let by = 0;
  let ms = Math.round(length);
  if (kind === 'clock step') by = stepLength(random, conditions);
  if (kind === 'clock drift') by = clocks && random.chance(0.3) ? random.spread(0.3, 3) - 1 : 0.0005 * sign(random);
  if (kind === 'pause inside a call') by = 1 + random.below(random.pick([3, 30]));
  if (kind === 'late write') ms = Math.round(timeoutMs + random.spread(1, 3 * Math.min(leaseTtlMs, 60_000)));
  if (kind === 'late write' && registry === 'zookeeper') ms = Math.min(ms, timeoutMs + SESSION_MS);
  if (kind === 'failover') ms = Math.round(random.spread(1, 4 * reportMs));
  if (kind === 'disk lost') by = Math.round(random.spread(1, conditions.maxClockOffsetMs / 4)) * sign(random);
  if (kind === 'process cloned' || kind === 'process rolled back') by = Math.round(random.spread(3000, 60_000));
  if (kind === 'registry down' && !history && random.chance(0.03)) ms = Math.round(random.spread(0.5, 3) * HOUR);
  return { kind, at: Math.round(at), ...place, ms, by };
}

function stepLength(random: SeededRandom, { clocks, maxClockOffsetMs, leaseTtlMs }: Conditions): number {
  if (!clocks) return Math.round(random.spread(1, maxClockOffsetMs / 8)) * sign(random);
  const length = random.chance(0.3)
    ? random.spread(1, 20)
    : random.spread(20, random.pick([2 * leaseTtlMs, 24 * HOUR]));
  return Math.round(length) * sign(random);
}

function sign(random: SeededRandom): number {
  return random.chance(0.5) ? 1 : -1;
}
