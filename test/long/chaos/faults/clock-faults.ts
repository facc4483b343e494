import { MAX_AHEAD_MS } from '../world/server-clock';
import { type Draw, duration, type Plan, serverOf, SERVERS } from './fault';
import { ServerFault } from './server-faults';

/** Minutes, as a time service does that was wrong: nothing is issued until the clock is right again. */
const FAR_MS = 600_000;

function step(kind: string, least: number, most: number, codes: readonly string[]): Draw {
  return (random): Plan => {
    const name = random.pick(SERVERS);
    const offsetMs = least + 100 * random.below((most - least) / 100 + 1);
    return {
      kind,
      parts: [`clock ${name}`],
      holdMs: duration(random, 1500, 4000),
      outlastsBuffers: false,
      detail: `${name} by ${offsetMs} ms`,
      arm: (world) => {
        const server = serverOf(world, name);
        return new ServerFault(
          server,
          { segment: [], snowflake: codes },
          () => server.clock.set(offsetMs),
          () => server.clock.set(0),
        );
      },
    };
  };
}

/** The clock stays ahead, each time by a share of what is left of the most that it may be. */
const stepForGood: Draw = (random) => {
  const name = random.pick(SERVERS);
  const percent = 20 + 10 * random.below(7);
  return {
    kind: 'clock-forward-far',
    parts: [`clock ${name}`],
    holdMs: duration(random, 1500, 4000),
    outlastsBuffers: false,
    detail: `${name} by ${percent} % of the rest of ${MAX_AHEAD_MS / 3_600_000} h`,
    arm: (world) => {
      const server = serverOf(world, name);
      const { clock } = server;
      return new ServerFault(
        server,
        { segment: [], snowflake: ['LEAF_LEASE_EXPIRED'] },
        () => clock.advanceTo(Math.round(clock.aheadMs + (percent / 100) * (MAX_AHEAD_MS - clock.aheadMs))),
        () => Promise.resolve(),
      );
    },
  };
};

/** A forward step of the others ends with one backwards, to where the clock was. */
export const CLOCK_FAULTS: readonly Draw[] = [
  stepForGood,
  step('clock-forward', 500, 3000, ['LEAF_CLOCK_BACKWARDS', 'LEAF_LEASE_EXPIRED']),
  step('clock-back', -3000, -500, ['LEAF_CLOCK_BACKWARDS']),
  // Reports lower the reserved time meanwhile, and the clock passes it when it returns.
  step('clock-back-far', -FAR_MS, -FAR_MS, ['LEAF_CLOCK_BACKWARDS', 'LEAF_LEASE_EXPIRED']),
];
