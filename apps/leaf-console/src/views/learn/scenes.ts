import type { Action, FilmWorld, WorldSetup } from './world/film-world';

export const RULE_NAMES = ['R1', 'R2', 'R3', 'R4', 'R5', 'R6', 'R7', 'R8', 'R9', 'R10'] as const;
export type RuleName = (typeof RULE_NAMES)[number];

/** One moment of a scene: what happens, described by the caption with the same index. */
export interface Moment {
  /** Milliseconds since the start. */
  readonly at: number;
  readonly acts: readonly Action[];
}

/** The shortest schedule that shows what a rule prevents. */
export interface Scene {
  readonly rule: RuleName;
  readonly setup: WorldSetup;
  readonly moments: readonly Moment[];
  readonly endMs: number;
  /** For a rule that does not prevent duplicates: whether what it prevents has happened. */
  readonly harm?: (world: FilmWorld) => boolean;
}

const A = { name: 'A', ip: '10.0.0.1' };
const B = { name: 'B', ip: '10.0.0.2' };
const TWIN = { name: 'B', ip: '10.0.0.1' };

const start = (server: string): Action => ({ do: 'start', server });
const clock = (server: string, ms: number): Action => ({ do: 'clock', server, ms });
const at = (ms: number, ...acts: Action[]): Moment => ({ at: ms, acts });
const happened =
  (process: string, kind: string) =>
  ({ log }: FilmWorld): boolean =>
    log.some((entry) => entry.process === process && entry.kind === kind);

export const SCENES: readonly Scene[] = [
  {
    rule: 'R1',
    setup: { policy: 'pool', servers: [A, B] },
    moments: [at(0, start('A'), start('B')), at(3000, { do: 'cut', server: 'A' }), at(9500)],
    endMs: 16_000,
  },
  {
    rule: 'R2',
    setup: { policy: 'fixed', servers: [A] },
    moments: [at(0, start('A')), at(5000, { do: 'crash', server: 'A' }, clock('A', -3000)), at(6000, start('A'))],
    endMs: 14_000,
  },
  {
    rule: 'R3',
    setup: { policy: 'pool', servers: [A, B] },
    moments: [
      at(0, start('A'), start('B')),
      at(3000, { do: 'pause', server: 'A' }),
      at(9500),
      at(15_000, { do: 'resume', server: 'A' }),
    ],
    endMs: 20_000,
  },
  {
    rule: 'R4',
    setup: { policy: 'pool', servers: [A, { ...B, offset: -3000 }] },
    moments: [at(0, start('A')), at(6000, { do: 'stop', server: 'A' }), at(6200, start('B'))],
    endMs: 13_000,
  },
  {
    rule: 'R5',
    setup: { policy: 'pool', servers: [A, B] },
    moments: [at(0, start('A')), at(4200, { do: 'empty' }), at(4300, start('B'))],
    endMs: 16_000,
  },
  {
    rule: 'R6',
    setup: { policy: 'fixed', servers: [A, { ...B, otherLayout: true }] },
    moments: [at(0, start('B')), at(1200, start('A'))],
    endMs: 6000,
  },
  {
    rule: 'R7',
    setup: { policy: 'pool', servers: [A, B] },
    moments: [
      at(0, start('A'), start('B')),
      at(3000, { do: 'pause', server: 'A' }),
      at(7500, { do: 'stop-replication' }),
      at(9500),
      at(10_200, { do: 'fail-over' }, { do: 'resume', server: 'A' }),
    ],
    endMs: 20_000,
  },
  {
    rule: 'R8',
    setup: { policy: 'fixed', servers: [A, TWIN] },
    moments: [at(0, start('A')), at(3000, start('B')), at(6500)],
    endMs: 14_000,
    harm: (world) => happened('B', 'waiting')(world) && !happened('B', 'refused-to-start')(world),
  },
  {
    rule: 'R9',
    setup: { policy: 'pool', servers: [A, B] },
    moments: [
      at(0, start('A')),
      // Not a multiple of the time between requests: no ID is issued meanwhile.
      at(3900, clock('A', 12_250)),
      at(4100, clock('A', -12_250)),
      at(6500, { do: 'cut', server: 'A' }, { do: 'empty' }, start('B')),
      at(14_000),
    ],
    endMs: 18_000,
  },
  {
    rule: 'R10',
    setup: { policy: 'pool', servers: [A, B] },
    moments: [
      at(0, start('A'), start('B')),
      at(2500, { do: 'cut', server: 'A' }),
      at(3000, clock('B', 8000)),
      at(5500, { do: 'empty' }, { do: 'connect', server: 'A' }),
      at(8000),
    ],
    endMs: 16_000,
  },
];

/** For free play. */
export const SANDBOX: WorldSetup = { policy: 'pool', servers: [A, B, { name: 'C', ip: '10.0.0.3' }], workers: 2 };
