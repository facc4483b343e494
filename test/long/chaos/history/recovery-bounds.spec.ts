import type { Plan } from '../faults/fault';
import type { FaultRecord } from './fault-record';
import { recoveryBoundOf, slowRecoveries } from './recovery-bounds';

function record(kind: string, recoveredAt: number, recoveryMs: number, starvedMs = 0): FaultRecord {
  const plan = { kind, detail: 'a' } as Plan;
  return { plan, recoveredAt, recoveryMs, starvedMs, lastTrouble: 'x' } as FaultRecord;
}

describe('the bounds of recoveries', () => {
  it('name what took longer than the bound of its kind', () => {
    expect(slowRecoveries([record('client-cut', 1, 5000), record('server-kill', 2, 15_000)])).toStrictEqual([]);
    expect(slowRecoveries([record('client-cut', 1, 5001), record('server-kill', 2, 15_001)])).toEqual([
      'client-cut a: recovered after 5.0 s, 0.0 s of them without a processor, not within 5.0 s: x',
      'server-kill a: recovered after 15.0 s, 0.0 s of them without a processor, not within 15.0 s: x',
    ]);
  });

  it('allow two faults at once the sum of both', () => {
    const pair = (ms: number): FaultRecord[] => [record('client-cut', 9, ms), record('database-kill', 9, ms)];
    expect(recoveryBoundOf('client-cut') + recoveryBoundOf('database-kill')).toBe(10_000);
    expect(slowRecoveries(pair(10_000))).toStrictEqual([]);
    expect(slowRecoveries(pair(10_001))).toHaveLength(1);
  });

  it('leave out what processes waited for a processor', () => {
    expect(slowRecoveries([record('client-cut', 1, 8000, 3000)])).toStrictEqual([]);
    expect(slowRecoveries([record('client-cut', 1, 8000, 2000)])).toHaveLength(1);
  });

  it('do not judge a round that has not recovered', () => {
    expect(
      slowRecoveries([{ ...record('client-cut', 1, 0), recoveredAt: undefined, recoveryMs: undefined }]),
    ).toStrictEqual([]);
  });
});
