// Models of worker windows; see models.mjs.

const WINDOWS = {
  ...{ Servers: '{a, b}', Workers: '{1}', Clients: '{c1, c2}', Length: 1, Offset: 0, Drift: 2, Registration: 0 },
  ...{ Reach: 0, MaxTime: 0, Marking: true, Leases: 2, Extensions: 0, Runs: 3, Losses: 0, Forks: 0 },
};
const WINDOW = { module: 'Windows', invariants: ['Unique', 'NotRefused'], symmetry: 'Symmetry' };

export const WINDOW_MODELS = [
  {
    ...{ ...WINDOW, name: 'windows', constants: { ...WINDOWS, Extensions: 1 } },
    large: { Drift: 3, Runs: 4 },
    rules: {
      ...{ W1: 'Unique', W3: 'Unique', W5: 'Unique' },
      W6: { invariant: 'Unique', isLarge: true },
    },
  },
  {
    ...{ ...WINDOW, name: 'windows-workers', constants: { ...WINDOWS, Workers: '{1, 2}', Drift: 1 } },
    rules: { W2: 'Unique' },
  },
  {
    ...{ ...WINDOW, name: 'windows-copies' },
    constants: { ...WINDOWS, Servers: '{a}', Leases: 1, Forks: 1, Extensions: 2 },
    large: { Runs: 4 },
    assumptions: {
      'requests tell what the client knows': { constants: { Marking: false }, invariant: 'Unique' },
    },
  },
  {
    ...{ ...WINDOW, name: 'windows-history' },
    constants: {
      ...{ ...WINDOWS, Runs: 2, Losses: 1, MaxTime: 3, Length: 2, Drift: 0, Registration: 1, Reach: 1 },
    },
    large: { MaxTime: 4 },
    rules: { W4: 'Unique' },
    assumptions: {
      'servers reach the registry in the grace': { constants: { Reach: 0 }, invariant: 'Unique' },
    },
  },
];
