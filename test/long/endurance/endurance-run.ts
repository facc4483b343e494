import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../support/until';
import { disturb } from './disturbances';
import { type Course, coursesOf } from './flatness';
import { Load, type LoadCounts } from './load';
import type { Sample } from './subject/sample';
import { EnduranceWorld } from './world';

export interface EnduranceOptions {
  /** Whether another round follows, of so many that were played. */
  readonly goesOn: (rounds: number) => boolean;
  /** The checkout, built. */
  readonly root: string;
  /** For logs. */
  readonly folder: string;
  readonly say: (line: string) => void;
}

export interface EnduranceOutcome extends LoadCounts {
  readonly rounds: number;
  readonly durationMs: number;
  readonly samples: Readonly<Record<string, readonly Sample[]>>;
  /** How the figures of each process went. */
  readonly courses: readonly Course[];
}

/** Rounds in which caches fill, code is compiled and pools reach their sizes. */
export const WARM_UP_ROUNDS = 2;
/** In each round, beside those that fall into a disturbance. */
const SWITCHES_A_ROUND = 1500;
/** For connections that are not used any more to be closed by whoever opened them. */
const CALM_MS = 1000;

/** Servers and a client switch and reconnect round after round, and are looked at after each. */
export async function runEndurance({ goesOn, root, folder, say }: EnduranceOptions): Promise<EnduranceOutcome> {
  const world = await EnduranceWorld.start(root, folder);
  const load = new Load(world);
  try {
    const samples = new Map<string, Sample[]>(world.subjects.map(({ name }) => [name, []]));
    const startedAt = performance.now();
    let rounds = 0;
    for (; goesOn(rounds); rounds++) {
      load.start();
      await disturb(world.servers, rounds, () => world.well());
      const enough = load.counts.switches + SWITCHES_A_ROUND;
      await until('enough segments', () => load.counts.switches >= enough);
      await load.pause();
      await until('idle client', () => load.clientIsIdle);
      await sleep(CALM_MS);
      for (const subject of world.subjects) samples.get(subject.name)!.push(await subject.sample());
      say(lineOf(rounds, performance.now() - startedAt, load.counts, samples));
    }
    return {
      ...load.counts,
      rounds,
      durationMs: performance.now() - startedAt,
      samples: Object.fromEntries(samples),
      courses: [...samples].flatMap(([name, all]) => coursesOf(name, all.slice(WARM_UP_ROUNDS))),
    };
  } finally {
    load.end();
    await world.stop();
  }
}

function lineOf(round: number, ms: number, { switches }: LoadCounts, samples: ReadonlyMap<string, Sample[]>): string {
  const heaps = [...samples].map(([name, all]) => {
    const { heapBytes, listeners } = all.at(-1)!;
    return `${name} ${(heapBytes / 2 ** 20).toFixed(1)} MiB, ${listeners} listeners`;
  });
  return `${(ms / 1000).toFixed(0).padStart(5)} s  round ${round + 1}  ${switches} switches  ${heaps.join('; ')}`;
}
