/**
 * The models, with their bounds. Constants are TLA+ text, or values; an array of texts is a set of strings. Every
 * module has the constant `Without`: the rules that are taken out.
 *
 * rules: for each rule, the invariant that does not hold without it. assumptions: for each assumption, the constants
 * that drop it, and the invariant that then does not hold. Other invariants must hold.
 *
 * @type {readonly { name: string, module: string, constants: Record<string, unknown>, large?: Record<string, unknown>,
 *   invariants: readonly string[], symmetry?: string, rules?: Record<string, string>,
 *   assumptions?: Record<string, { constants: Record<string, unknown>, invariant: string }> }[]}
 */

const LEASE = {
  ...{ Servers: '{a, b}', Workers: '{0}', Pool: false, Twins: false, Holding: '{}', Others: '{}' },
  ...{ Shorts: '{}', Short: 1, Horizon: 1, Offset: 1, Drift: 1, Registration: 1, Margin: 1, Files: false },
  ...{ Maintain: false, MaxTime: 0, Reach: 0, Alone: false, Recognized: true, Excused: true, LossKinds: [] },
  ...{ Leases: 2, Writes: 2, Lates: 0, Losses: 0, Forks: 0, Jumps: 0, Jump: 0, Copies: 0 },
};

export const MODELS = [
  {
    name: 'lease-twins',
    module: 'Lease',
    // Clocks show any time from 0 to 2.
    constants: { ...LEASE, Twins: true, Drift: 2, Lates: 1 },
    large: { Drift: 3, Leases: 3, Writes: 3 },
    invariants: ['Unique'],
    symmetry: 'Symmetry',
    rules: { R1: 'Unique', R2: 'Unique', R3: 'Unique', R4: 'Unique' },
  },
];
