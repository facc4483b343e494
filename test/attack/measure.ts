import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd, type Target } from './crowd';
import { type Attack, ORDINARY_LOAD } from './attacks';
import { IdMeter, type Latency } from './id-meter';
import type { LimitedServer } from './limited-server';
import { call } from '../support/http/http';

const SINGLE_IDS = ['/api/segment/get/leaf-segment-test', '/api/snowflake/get/measured'];
const PER_SECOND = 400;
const WINDOW_MS = 800;
const PROBE_PAUSE_MS = 50;
/** The best of several windows counts: a machine that stands still for a moment is not the attack. */
const MAX_ROUNDS = 6;
/** No further round begins after this time: an attack that succeeds may stop the server for seconds in each. */
const ROUNDS_MS = 20_000;
/** How much later an ID should come beside an attack: rounds are added while the ratio is larger. */
export const WANTED_RATIO = 2;
/** Where a test fails. An attack that succeeds reaches hundreds; on a fast machine, 0.8 ms at rest makes ratios up to 13. */
export const MAX_RATIO = 20;

export interface AttackResult {
  readonly name: string;
  readonly rest: Latency;
  readonly ordinary: Latency;
  readonly during: Latency;
  /** How much longer than at rest, or beside ordinary callers, the slowest hundredth of the IDs took. */
  readonly ratio: number;
  readonly peakMib: number;
  /** Of the attacker's requests, and of the measured ones, over all windows. */
  readonly attacker: Readonly<Record<string, number>>;
  readonly ids: Readonly<Record<string, number>>;
  readonly duplicates: number;
  /** Of all probes, each on a new connection while the attack runs; 0 when there was no response. */
  readonly probes: readonly number[];
  readonly alive: boolean;
}

/** Attacks a server of its own in several windows, each beside one at rest and one with ordinary callers. */
export async function measure(attack: Attack, server: LimitedServer): Promise<AttackResult> {
  const { sources = SINGLE_IDS, token, fresh = false, ordinary = ORDINARY_LOAD } = attack;
  const { port, respPort } = server;
  const target: Target = { port, respPort, token };
  const meter = new IdMeter({ target, sources, perSecond: PER_SECOND, fresh });
  const beside = (load: Attack): Promise<Window> => measureBeside(load, target, meter);
  const seen: Record<'rest' | 'ordinary' | 'during', Latency[]> = { rest: [], ordinary: [], during: [] };
  const attacker: Record<string, number> = {};
  const probes: number[] = [];
  const begin = performance.now();
  const hasTime = (): boolean => performance.now() - begin < ROUNDS_MS;
  let ratio = Infinity;
  try {
    await beside(ordinary);
    for (let round = 0; round < MAX_ROUNDS && ratio > WANTED_RATIO && server.running && hasTime(); round++) {
      seen.rest.push(await meter.measure(WINDOW_MS));
      seen.ordinary.push((await beside(ordinary)).latency);
      const { latency, statuses, probes: seenProbes } = await beside(attack);
      seen.during.push(latency);
      addTo(attacker, statuses);
      probes.push(...seenProbes);
      ratio = best(seen.during).p99 / Math.max(best(seen.rest).p99, best(seen.ordinary).p99);
    }
  } finally {
    await meter.end();
  }
  const ids: Record<string, number> = {};
  for (const { statuses } of seen.during) addTo(ids, statuses);
  return {
    name: attack.name,
    rest: best(seen.rest),
    ordinary: best(seen.ordinary),
    during: best(seen.during),
    ratio,
    peakMib: server.peakMib,
    attacker,
    ids,
    duplicates: Object.values(seen)
      .flat()
      .reduce((sum, { duplicates }) => sum + duplicates, 0),
    probes,
    alive: server.running,
  };
}

interface Window {
  readonly latency: Latency;
  readonly statuses: Readonly<Record<string, number>>;
  readonly probes: readonly number[];
}

async function measureBeside({ prepare, run }: Attack, target: Target, meter: IdMeter): Promise<Window> {
  const crowd = new Crowd(target);
  await prepare?.(crowd);
  const probes: number[] = [];
  const probe = async (): Promise<void> => {
    probes.push((await call(target.port, '/health/ready').catch(() => ({ status: 0 }))).status);
    await sleep(PROBE_PAUSE_MS);
  };
  const attacking = [crowd.loop(1, () => run(crowd)), crowd.loop(1, probe)];
  try {
    return { latency: await meter.measure(WINDOW_MS), statuses: crowd.statuses, probes };
  } finally {
    crowd.end();
    await Promise.all(attacking);
  }
}

function best(windows: readonly Latency[]): Latency {
  return windows.reduce((least, window) => (window.p99 < least.p99 ? window : least));
}

function addTo(sums: Record<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [status, count] of Object.entries(counts)) sums[status] = (sums[status] ?? 0) + count;
}
