import { LeafError } from '../errors/leaf-error';
import { defaultLayout } from './bit-layout';
import { type Obstacle, type HoldState, refusalOf } from './issue-window';

const NOW = 1_700_000_000_000;

const state: HoldState = {
  window: {
    term: { workerId: 39, floor: NOW + 70 },
    ceiling: NOW - 1,
    renewAfter: NOW,
    refusal: new LeafError('LEAF_NOT_READY', 'no worker'),
    renew: () => Promise.resolve(),
  },
  layout: defaultLayout(),
  timestamp: NOW + 6,
  now: NOW,
};

describe('a refusal', () => {
  it.each<[Obstacle, object, string]>([
    ['exhausted', { code: 'LEAF_OVERLOADED', retryAfterMs: 1 }, 'Worker 39 has used all 4096 IDs'],
    ['floor', { code: 'LEAF_NOT_READY', retryAfterMs: 71 }, 'Worker 39 may have issued IDs for the next 70 ms'],
    [
      'ceiling',
      { code: 'LEAF_LEASE_EXPIRED', retryAfterMs: 1000 },
      `Worker 39 has used its reserved time up to ${NOW - 1} `,
    ],
    ['epoch', { code: 'LEAF_EPOCH_EXHAUSTED', retryAfterMs: undefined }, `The clock reads ${NOW} (Unix ms), outside`],
    ['absorbing', { code: 'LEAF_CLOCK_BACKWARDS', retryAfterMs: 6 }, 'worker 39 is 6 ms behind'],
    ['behind', { code: 'LEAF_CLOCK_BACKWARDS', retryAfterMs: 6 }, 'worker 39 is 6 ms behind'],
  ])('for %s names the worker, the amount and when to retry', (hold, fields, part) => {
    const refusal = refusalOf(hold, state);
    expect(refusal).toMatchObject(fields);
    expect(refusal.message).toContain(part);
  });

  it('names the bounds of the layout if the clock is outside them', () => {
    const { epoch, maxTimestamp } = state.layout;
    expect(refusalOf('epoch', state).message).toContain(`from ${epoch} to ${maxTimestamp}`);
  });

  it('is that of the window while there is no worker', () => {
    const { window } = state;
    expect(refusalOf('no-term', state)).toBe(window.refusal);
    expect(refusalOf('floor', { ...state, window: { ...window, term: undefined } })).toBe(window.refusal);
  });
});
