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

/** A forward step ends with one backwards, to the true time. */
export const CLOCK_FAULTS: readonly Draw[] = [
  step('clock-forward', 500, 3000, ['LEAF_CLOCK_BACKWARDS', 'LEAF_LEASE_EXPIRED']),
  step('clock-back', -3000, -500, ['LEAF_CLOCK_BACKWARDS']),
  step('clock-back-far', -FAR_MS, -FAR_MS, ['LEAF_CLOCK_BACKWARDS']),
];
