import { LEASE_LIMITS } from '@leaf-ids/core/internal';
import { type Conditions, STRATEGIES, type Strategy, type Themes } from './conditions';
import { drawFaults, type Fault } from './faults';
import type { SeededRandom } from '../../support/seeded-random';

export interface Drawn {
  readonly conditions: Conditions;
  /** In the order of their times. */
  readonly faults: readonly Fault[];
}

const REPORT_MS = 3000;
/** {@link PoolPolicy} takes a record in use only so long after its ceiling. */
const POOL_MARGIN_MS = 60_000;

export function drawWorld(random: SeededRandom): Drawn {
  const strategy = random.pick(STRATEGIES);
  const pool = strategy === 'pool';
  const horizonMs = pool ? REPORT_MS * random.pick([4, 20, 20, 200]) : 10_000;
  const maxClockOffsetMs = random.pick([1000, 5000]);
  const hosts = 2 + random.below(random.pick([2, 2, 4]));
  const processes = random.chance(0.2) ? 2 : 1;
  const graceMs = (pool ? 3 * REPORT_MS : horizonMs) + LEASE_LIMITS.clockOffsetMs;
  const themes = drawThemes(random, strategy, graceMs);
  const servers = hosts * processes;
  // Room for servers that crashed, or released under a clock that was ahead.
  const needsRoom = horizonMs > 20 * REPORT_MS || themes.clocks;
  const clients = pool && random.chance(0.8) ? 2 + random.below(4) : 0;
  const poolSize =
    servers +
    (random.chance(0.5) ? clients : Math.ceil(clients / 2)) +
    (needsRoom ? 2 * servers + 12 : random.below(3));
  const waits = pool ? Math.min(horizonMs, 20 * REPORT_MS) + POOL_MARGIN_MS : 2 * horizonMs + maxClockOffsetMs;
  const conditions: Conditions = {
    ...themes,
    ...{ strategy, horizonMs, maxClockOffsetMs, hosts, processes, poolSize, clients },
    reportMs: REPORT_MS,
    timeoutMs: 2000,
    askMs: random.pick([250, 500, 500, 2000, 20_000]),
    faultyMs: REPORT_MS * (15 + random.below(30)),
    boundMs: graceMs + waits + 12 * REPORT_MS,
    offsets: Array.from({ length: hosts }, () => Math.round((random.fraction() - 0.5) * 0.4 * maxClockOffsetMs)),
    readsByInstance: (strategy === 'fixed' || strategy === 'fixed with file') && random.chance(0.5),
  };
  return { conditions, faults: drawFaults(random, conditions) };
}

function drawThemes(random: SeededRandom, strategy: Strategy, graceMs: number): Themes {
  const remote = strategy !== 'local';
  const fixed = strategy === 'fixed' || strategy === 'fixed with file';
  const history = remote && random.chance(0.35);
  const disks = (strategy === 'fixed with file' || strategy === 'local') && random.chance(0.2);
  const clocks = random.chance(history || disks ? 0.06 : 0.4);
  const layouts = fixed && random.chance(0.04);
  const twins = fixed && !layouts && random.chance(strategy === 'fixed' ? 0.2 : 0.08);
  const longestMs = history && random.chance(0.7) ? graceMs / 4 : 60_000;
  return { clocks, history, disks, twins, layouts, longestMs };
}
