import { SEGMENT_MODELS } from './segment-models.mjs';
import { WINDOW_MODELS } from './window-models.mjs';

/**
 * The models, with their bounds. Constants are TLA+ text, or values; an array of texts is a set of strings. Every
 * module has the constant `Without`: the rules that are taken out.
 *
 * rules: the invariant that does not hold without a rule, with other constants where it needs them; isLarge: it needs the
 * larger bounds. assumptions: the constants that drop an assumption, and the invariant that then does not hold;
 * `invariants` are those that are checked, by default all.
 *
 * @typedef {{ invariant: string, constants?: Record<string, unknown>, isLarge?: boolean,
 *   invariants?: readonly string[] }} Expected
 * @type {readonly { name: string, module: string, constants: Record<string, unknown>, large?: Record<string, unknown>,
 *   invariants: readonly string[], symmetry?: string, rules?: Record<string, string | Expected>,
 *   assumptions?: Record<string, Expected> }[]}
 */

const LEASE = {
  ...{ Servers: '{a, b}', Workers: '{0}', Pool: false, Twins: false, Holding: '{a}', Others: '{}' },
  ...{ Shorts: '{}', Short: 1, Horizon: 2, Offset: 1, Drift: 1, Registration: 1, Margin: 1, Files: false },
  ...{ Maintain: false, MaxTime: 0, Reach: 0, Stops: false, Alone: false, Recognized: true, Excused: true },
  ...{ LossKinds: [], LossTime: 1, Age: 0, Leases: 2, Writes: 2, Lates: 0, Losses: 0, Forks: 0, Jumps: 0, Jump: 0 },
  Copies: 0,
};
/** Clocks show any time from 0 to 2, at any step. */
const ANY_CLOCK = { MaxTime: 0, Drift: 2, Horizon: 1 };

export const MODELS = [
  {
    name: 'lease-twins',
    module: 'Lease',
    constants: { ...LEASE, ...ANY_CLOCK, Holding: '{}', Twins: true, Stops: true, Lates: 1 },
    large: { Drift: 3, Leases: 3, Writes: 3 },
    invariants: ['Unique'],
    symmetry: 'Symmetry',
    rules: { R1: 'Unique', R2: 'Unique', R3: 'Unique', R4: 'Unique' },
  },
  {
    name: 'lease-watch',
    module: 'Lease',
    constants: { ...LEASE, Twins: true, MaxTime: 4, Reach: 1, Writes: 5, Jumps: 1, Jump: 3 },
    large: { MaxTime: 5, Writes: 6, Leases: 3, Stops: true },
    invariants: ['Unique', 'Kept', 'Yields', 'Near'],
    rules: { R8: 'Yields', R9: 'Near' },
  },
  {
    name: 'lease-history-fixed',
    module: 'Lease',
    constants: { ...LEASE, MaxTime: 4, Horizon: 1, Age: 1, LossKinds: ['emptied'], Losses: 1 },
    large: { MaxTime: 5, Horizon: 2, LossKinds: ['emptied', 'back'] },
    invariants: ['Unique', 'Kept'],
    rules: { R5: 'Unique', R7: { invariant: 'Kept', constants: { LossKinds: ['back'] } } },
    assumptions: {
      'a registry that goes back is recognized': {
        constants: { Recognized: false, LossKinds: ['back'] },
        invariants: ['Unique'],
        invariant: 'Unique',
      },
    },
  },
  {
    name: 'lease-history-pool',
    module: 'Lease',
    constants: {
      ...{ ...LEASE, Pool: true, MaxTime: 5, Horizon: 5, Reach: 1, Writes: 6 },
      ...{ LossKinds: ['emptied', 'back'], Losses: 1 },
    },
    large: { MaxTime: 6, LossTime: 2, Losses: 2 },
    invariants: ['Unique', 'Kept'],
    rules: { R5: 'Unique' },
    assumptions: {
      'a holder reaches the registry within the grace': { constants: { Reach: 0 }, invariant: 'Unique' },
      'clocks differ by at most the allowed offset': { constants: { Drift: 3 }, invariant: 'Unique' },
    },
  },
  {
    name: 'lease-reclaim',
    module: 'Lease',
    constants: { ...LEASE, Pool: true, Maintain: true, MaxTime: 3, Shorts: '{b}' },
    large: { MaxTime: 4, Leases: 3, Stops: true },
    invariants: ['Unique', 'Kept', 'Patient'],
    rules: { R10: { invariant: 'Patient', constants: { Drift: 2, Offset: 2 } }, R12: 'Patient' },
  },
  {
    name: 'lease-file',
    module: 'Lease',
    constants: { ...LEASE, Servers: '{a}', Twins: true, Files: true, MaxTime: 2, Horizon: 1, Leases: 3, Lates: 1 },
    large: { MaxTime: 4 },
    invariants: ['Unique'],
    rules: { R12: 'Unique' },
    assumptions: {
      'one process of an ip:port runs': {
        constants: { Servers: '{a, b}', MaxTime: 3, Leases: 2, Lates: 0 },
        invariant: 'Unique',
      },
      'data directories are not copied': { constants: { Copies: 1 }, invariant: 'Unique' },
    },
  },
  {
    name: 'lease-copy',
    module: 'Lease',
    constants: { ...LEASE, ...ANY_CLOCK, Twins: true, Forks: 1, Writes: 3, Leases: 1 },
    large: { Drift: 3, Leases: 2, Writes: 4 },
    invariants: ['Unique'],
    rules: { R13: 'Unique' },
    assumptions: {
      'IDs of a copy do not count before its next report': { constants: { Excused: false }, invariant: 'Unique' },
      'the answer to the first report of a copy arrives': { constants: { Lates: 1 }, invariant: 'Unique' },
    },
  },
  {
    name: 'lease-layout',
    module: 'Lease',
    constants: {
      ...LEASE,
      Workers: '{0, 1}',
      Others: '{b}',
      MaxTime: 5,
      Reach: 1,
      Writes: 5,
      LossKinds: ['document'],
      Losses: 1,
    },
    large: { MaxTime: 6, LossTime: 3, Leases: 3, Writes: 6 },
    invariants: ['Unique', 'Kept'],
    rules: { R6: 'Unique', R11: 'Kept' },
  },
  ...WINDOW_MODELS,
  ...SEGMENT_MODELS,
];
