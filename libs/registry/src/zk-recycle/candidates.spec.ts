import { systemRandom } from '@leaf/core';
import { candidates, shuffled } from './candidates';
import type { PoolRecord } from './pool-record';
import type { PoolEntry } from './worker-pool';

const NOW = 1_700_000_000_000;
const MARGIN = 60_000;

function entry(workerId: number, state: PoolRecord['state'], ceiling: number): PoolEntry {
  return { workerId, version: 1, record: { state, ip: '10.0.0.7', port: '8080', leaseId: 'a', ceiling } };
}

function order(entries: readonly PoolEntry[], random = systemRandom): number[] {
  return candidates(entries, NOW, random).map(({ workerId }) => workerId);
}

describe('candidates', () => {
  const free = [3, 1, 4, 0, 2].map((n) => entry(n, 'notuse', NOW - 100 + n));

  it('are the free, the half that was used longest ago first', () => {
    for (let n = 0; n < 50; n++) {
      const found = order(free);
      expect(found.slice(0, 3).sort()).toEqual([0, 1, 2]);
      expect(found.slice(3).sort()).toEqual([3, 4]);
    }
  });

  it('begin with each of the older half in turn', () => {
    expect([0, 1, 2].map((chosen) => order(free, (bound) => (bound === 3 ? chosen : 0))[0])).toEqual([0, 1, 2]);
  });

  it('are not those in use, and not those whose ceiling is still to come', () => {
    expect(order([entry(0, 'inuse', 0), entry(1, 'notuse', NOW), entry(2, 'notuse', NOW + 1)])).toEqual([1]);
  });

  it('are those given up when none is free: a minute after their ceiling', () => {
    const used = [entry(0, 'inuse', NOW - MARGIN), entry(1, 'inuse', NOW - MARGIN - 1), entry(2, 'notuse', NOW + 1)];
    expect(order(used)).toEqual([1]);
  });

  it('are not those that cannot be read', () => {
    expect(order([{ workerId: 0, version: 1, record: undefined }])).toEqual([]);
  });
});

describe('shuffled', () => {
  it('takes the order from chance, and loses nobody', () => {
    expect(shuffled([1, 2, 3], () => 0)).toEqual([1, 2, 3]);
    expect(shuffled([1, 2, 3], (bound) => bound - 1)).toEqual([3, 2, 1]);
    expect(shuffled([], systemRandom)).toEqual([]);
  });
});
