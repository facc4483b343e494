import { LEASE_LIMITS } from '@leaf-ids/core/internal';
import { type Conditions, type Registry, type Settings, STRATEGIES, type Strategy, type Themes } from './conditions';
import { drawFaults, type Fault } from './faults';
import type { SeededRandom } from '../../support/seeded-random';

export interface Drawn {
  readonly conditions: Conditions;
  /** In the order of their times. */
  readonly faults: readonly Fault[];
}

const REPORT_MS = 3000;
/** Shares of the worlds, of those in which it is possible. */
const RATES = {
  zookeeper: 0.25,
  /** Java servers beside a pool. */
  java: 0.25,
  /** A registry emptied under many windows, far away. */
  flood: 0.02,
  /** Other settings on each host. */
  settings: 0.1,
  /** Another layout on one host. */
  layouts: 0.04,
  /** Of the worlds with another layout: the document is deleted. */
  layoutsWithoutDocument: 0.5,
  forks: 0.06,
} as const;
/** {@link PoolPolicy} takes a record in use only so long after its ceiling. */
const POOL_MARGIN_MS = 60_000;

export function drawWorld(random: SeededRandom): Drawn {
  const strategy = random.pick(STRATEGIES);
  const pool = strategy === 'pool';
  const registry: Registry = strategy !== 'local' && random.chance(RATES.zookeeper) ? 'zookeeper' : 'records';
  const java = registry === 'zookeeper' && random.chance(RATES.java) ? 1 + random.below(3) : 0;
  const isFlood = pool && java === 0 && random.chance(RATES.flood);
  const hosts = isFlood ? 2 : 2 + random.below(random.pick([2, 2, 4]));
  const processes = !isFlood && random.chance(0.2) ? 2 : 1;
  const settings = isFlood ? Array.from({ length: hosts }, () => FLOODED) : drawSettings(random, strategy, hosts);
  const { leaseTtlMs, reportMs, maxClockOffsetMs } = longestOf(settings);
  const limits = { ...LEASE_LIMITS, reportMs: Math.max(LEASE_LIMITS.reportMs, reportMs) };
  const graceMs = (pool ? 3 * limits.reportMs : leaseTtlMs) + limits.clockOffsetMs;
  const themes: Themes = isFlood
    ? { ...NO_THEMES, history: true, calm: true }
    : drawThemes(random, strategy, graceMs, java);
  const servers = hosts * processes;
  // Room for servers that crashed, or released under a clock that was ahead.
  const needsRoom = leaseTtlMs > 20 * REPORT_MS || themes.clocks || themes.forks;
  const clients = isFlood
    ? 24 + random.below(16)
    : pool && !themes.layouts && random.chance(0.8)
      ? 2 + random.below(4)
      : 0;
  const mostWindows = isFlood || random.chance(0.5) ? clients : Math.ceil(clients / 2);
  const needed = servers + (needsRoom ? 2 * servers + 12 : random.below(3));
  const waits = pool ? Math.min(leaseTtlMs, 20 * reportMs) + POOL_MARGIN_MS : 2 * leaseTtlMs + maxClockOffsetMs;
  const conditions: Conditions = {
    ...themes,
    ...{ leaseTtlMs, reportMs, maxClockOffsetMs },
    ...{ strategy, registry, settings, limits, hosts, processes, clients, java },
    // Windows get at most three quarters of a pool.
    poolSize: Math.max(needed + mostWindows, Math.ceil((mostWindows * 4) / 3)),
    mostWindows,
    timeoutMs: isFlood ? 4000 : 2000,
    latencyMs: isFlood ? random.spread(300, 600) : 0,
    askMs: isFlood ? 2000 : random.pick([250, 500, 500, 2000, 20_000]),
    faultyMs: REPORT_MS * (15 + random.below(30)),
    boundMs: graceMs + waits + 12 * reportMs,
    offsets: Array.from({ length: hosts }, () => Math.round((random.fraction() - 0.5) * 0.4 * leastOffset(settings))),
    readsByInstance: (strategy === 'fixed' || strategy === 'fixed with file') && random.chance(0.5),
  };
  return { conditions, faults: drawFaults(random, conditions) };
}

/** In most worlds those of all hosts are the same. */
function drawSettings(random: SeededRandom, strategy: Strategy, hosts: number): Settings[] {
  const pool = strategy === 'pool';
  const draw = (reportMs: number, fixedTtlMs: number): Settings => ({
    ...{ reportMs, leaseTtlMs: pool ? Math.max(12_000, reportMs * random.pick([4, 20, 20, 200])) : fixedTtlMs },
    maxClockOffsetMs: random.pick([1000, 5000]),
  });
  const one = draw(REPORT_MS, 10_000);
  if (strategy === 'local' || !random.chance(RATES.settings)) return Array.from({ length: hosts }, () => one);
  return Array.from({ length: hosts }, () =>
    draw(random.pick([1000, REPORT_MS, 9000]), random.pick([20_000, 30_000, 60_000])),
  );
}

function longestOf(settings: readonly Settings[]): Settings {
  const longest = (name: keyof Settings): number => Math.max(...settings.map((each) => each[name]));
  return {
    leaseTtlMs: longest('leaseTtlMs'),
    reportMs: longest('reportMs'),
    maxClockOffsetMs: longest('maxClockOffsetMs'),
  };
}

function leastOffset(settings: readonly Settings[]): number {
  return Math.min(...settings.map(({ maxClockOffsetMs }) => maxClockOffsetMs));
}

/** With the shortest grace. */
const FLOODED: Settings = { reportMs: REPORT_MS, leaseTtlMs: 20 * REPORT_MS, maxClockOffsetMs: 1000 };

const NO_THEMES: Themes = {
  ...{ clocks: false, history: false, disks: false, twins: false, layouts: false, forks: false },
  ...{ calm: false, longestMs: 60_000 },
};

function drawThemes(random: SeededRandom, strategy: Strategy, graceMs: number, java: number): Themes {
  const remote = strategy !== 'local';
  const fixed = strategy === 'fixed' || strategy === 'fixed with file';
  const layouts = remote && random.chance(RATES.layouts);
  // The Java service does not create a record again that was removed.
  const history = remote && java === 0 && random.chance(layouts ? RATES.layoutsWithoutDocument : 0.35);
  const disks = (strategy === 'fixed with file' || strategy === 'local') && random.chance(0.2);
  const clocks = java === 0 && random.chance(history || disks ? 0.06 : 0.4);
  const twins = fixed && !layouts && random.chance(strategy === 'fixed' ? 0.2 : 0.08);
  const forks = remote && !layouts && !twins && random.chance(RATES.forks);
  const longestMs = history && random.chance(0.7) ? graceMs / 4 : 60_000;
  return { clocks, history, disks, twins, layouts, forks, calm: false, longestMs };
}
