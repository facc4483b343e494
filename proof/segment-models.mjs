// Models of segments, strict tags and gapless numbers; see models.mjs.

const SEGMENTS = {
  ...{ Servers: '{a, b}', Step: 1, Ahead: 2, Gap: 1, Loss: 1, Last: 3, Faults: 2, Refreshes: 1, Dropped: [] },
};
const SEGMENT = { module: 'Segments', invariants: ['Unique', 'Ascending'], symmetry: 'Symmetry' };
const STRICT = { Servers: '{a, b}', Calls: 4, InFlight: 2, Gap: 1, Loss: 1, Last: 6, Faults: 1, Dropped: [] };
const GAPLESS = { Servers: '{a, b}', Keys: '{x, y}', Most: 2, Reissue: false, Faults: 2, Dropped: [] };
const GAPLESS_INVARIANTS = ['NoGap', 'OneNumber', 'OneDocument', 'Kept', 'Chronological', 'Recorded'];
const STRICT_MODEL = { module: 'Strict', invariants: ['Unique', 'Ordered'], symmetry: 'Symmetry' };
const GAPLESS_MODEL = { module: 'Gapless', invariants: GAPLESS_INVARIANTS, symmetry: 'Symmetry' };

/** Rules without which one invariant does not hold. */
const all = (invariant, ...rules) => Object.fromEntries(rules.map((rule) => [rule, invariant]));
/** An assumption is dropped by its name. */
const dropped = (name, invariant = 'Unique', more = {}) => ({ constants: { Dropped: [name], ...more }, invariant });

export const SEGMENT_MODELS = [
  {
    ...{ ...SEGMENT, name: 'segments-rows' },
    constants: { ...SEGMENTS, Kinds: ['late', 'set back', 'delete', 'remove'] },
    rules: all('Unique', 'S7', 'S8', 'S9', 'S10', 'S11', 'S12', 'S13', 'S16'),
    assumptions: { 'a row that is set back shows it, or only its server knows': dropped('shown') },
  },
  {
    ...{ ...SEGMENT, name: 'segments-truncate' },
    constants: { ...SEGMENTS, Kinds: ['lost', 'set back', 'truncate'] },
    large: { Faults: 3 },
    rules: { S17: 'Unique' },
    assumptions: { 'a server that missed a tag knows its end to within a gap': dropped('missed') },
  },
  {
    ...{ ...SEGMENT, name: 'segments-stop' },
    constants: { ...SEGMENTS, Kinds: ['crash', 'late', 'stop'] },
    large: { Faults: 3 },
    rules: all('Unique', 'S14', 'S15'),
  },
  {
    ...{ ...SEGMENT, name: 'segments-copies' },
    constants: { ...SEGMENTS, Faults: 3, Kinds: ['copy', 'promote', 'restore'] },
    large: { Last: 4 },
    rules: all('Unique', 'S1', 'S3'),
    assumptions: {
      'a failover loses no more than the gap': dropped('loss'),
      'no promotion back to an earlier primary': dropped('back'),
      'the first record is replicated': dropped('record'),
    },
  },
  {
    ...{ ...SEGMENT, name: 'segments-replaced' },
    constants: { ...SEGMENTS, Faults: 3, Refreshes: 2, Last: 2, Kinds: ['copy', 'replace'] },
    large: { Last: 3 },
    rules: all('Unique', 'S2', 'S4', 'S5', 'S6'),
    assumptions: {
      'no move of a single row is lost': dropped('move'),
      'servers that knew the newer database see the older copy first': dropped('seen'),
    },
  },
  {
    ...{ ...STRICT_MODEL, name: 'strict-servers' },
    constants: { ...STRICT, Kinds: ['crash', 'lost', 'late', 'give up', 'promote'] },
    large: { Faults: 2 },
    rules: { ...all('Ordered', 'T1', 'T2', 'T9'), ...all('Unique', 'T5', 'T7', 'T8') },
    assumptions: {
      'the old primary is fenced': dropped('fenced', 'Ordered'),
      'a failover loses no more than the gap': dropped('loss'),
    },
  },
  {
    ...{ ...STRICT_MODEL, name: 'strict-alone' },
    constants: { ...STRICT, Servers: '{a}', InFlight: 3, Kinds: ['lost', 'late', 'give up', 'set back'] },
    large: { Calls: 5, Faults: 2 },
    rules: all('Unique', 'T3', 'T4', 'T6'),
  },
  {
    ...{ ...GAPLESS_MODEL, name: 'gapless-running' },
    constants: { ...GAPLESS, Kinds: ['forget', 'answer lost', 'rollback', 'void'] },
    large: { Keys: '{x, y, z}' },
    rules: { ...all('NoGap', 'G1', 'G3'), G2: 'OneNumber', G9: 'Kept' },
  },
  {
    ...{ ...GAPLESS_MODEL, name: 'gapless-losses' },
    constants: {
      ...{ ...GAPLESS, Kinds: ['forget', 'answer lost', 'crash', 'copy', 'promote', 'restore', 'replace'] },
    },
    large: { Faults: 3 },
    rules: all('OneDocument', 'G4', 'G5', 'G6'),
    assumptions: {
      'an operator continues above the last number': dropped('operator', 'Chronological'),
      'a server that has seen the newest line writes first': dropped('witness', 'Chronological'),
      'lost keys are not repeated': dropped('noted', 'Kept', { Faults: 3 }),
    },
  },
  {
    ...{ ...GAPLESS_MODEL, name: 'gapless-continued' },
    constants: { ...GAPLESS, Faults: 3, Most: 1, Kinds: ['copy', 'replace', 'continue'] },
    large: { Most: 2 },
    rules: { G7: 'OneDocument' },
  },
  {
    ...{ ...GAPLESS_MODEL, name: 'gapless-reissue' },
    constants: {
      ...{
        ...GAPLESS,
        Servers: '{a}',
        Keys: '{x, y, z}',
        Most: 1,
        Reissue: true,
        Kinds: ['copy', 'promote', 'repeat'],
      },
    },
    rules: { G8: 'OneDocument' },
  },
];
