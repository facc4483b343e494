import type { Fault, Plan } from '../faults/fault';
import { type Failure, Judge, type Tally } from './judge';

function plan(kind: string): Plan {
  const arm = (): Fault => fault;
  return { kind, parts: [kind], holdMs: 0, outlastsBuffers: false, detail: '', arm };
}

const fault: Fault = {
  begin: () => Promise.resolve(),
  end: () => Promise.resolve(),
  expected: ({ mode }) => (mode === 'segment' ? ['LEAF_SEGMENT_UNAVAILABLE'] : []),
};

/** From 10 s to 20 s of the run, all well again at 22 s. */
function judge(busy = false): Judge {
  const one = new Judge(busy);
  const times = { beganAt: 10_000, endedAt: 20_000, recoveredAt: 22_000, recoveryMs: 2000 };
  const rest = { starvedMs: 0, lastTrouble: undefined };
  one.records.push({ plan: plan('database-kill'), fault, paired: false, ...times, ...rest });
  return one;
}

function verdict(failure: Partial<Failure>, busy = false): Tally | undefined {
  const one = judge(busy);
  const call = {
    server: undefined,
    caller: 'x',
    mode: 'segment',
    tag: 'order',
    code: 'LEAF_SEGMENT_UNAVAILABLE',
  } as const;
  one.note({ ...call, startedAt: 15_000, endedAt: 15_100, ...failure });
  return one.all()[0];
}

describe('a refusal', () => {
  it('is expected while a fault lasts that explains it, and shortly after', () => {
    const expected = { during: 'database-kill', expected: true, count: 1 };
    expect(verdict({})).toMatchObject(expected);
    expect(verdict({ startedAt: 9000, endedAt: 10_000 })).toMatchObject(expected);
    expect(verdict({ startedAt: 22_500, endedAt: 22_600 })).toMatchObject(expected);
  });

  it('is not expected before it, long after it, in the other mode or with another code', () => {
    expect(verdict({ startedAt: 8000, endedAt: 9000 })).toMatchObject({ during: 'calm', expected: false });
    expect(verdict({ startedAt: 30_000, endedAt: 30_100 })).toMatchObject({ during: 'calm', expected: false });
    expect(verdict({ mode: 'snowflake' })).toMatchObject({ during: 'database-kill', expected: false });
    expect(verdict({ code: 'LEAF_INTERNAL' })).toMatchObject({ during: 'database-kill', expected: false });
  });

  it('of a tag that comes and goes is expected while any fault lasts, and at no other time', () => {
    const refusal = { server: undefined, tag: 'passing-1', code: 'LEAF_SERVERS_UNAVAILABLE' };
    expect(verdict(refusal)).toMatchObject({ expected: true });
    expect(verdict({ ...refusal, tag: 'order' })).toMatchObject({ expected: false });
    expect(verdict({ ...refusal, startedAt: 1, endedAt: 2 })).toMatchObject({ during: 'calm', expected: false });
    expect(verdict({ ...refusal, code: 'LEAF_INTERNAL' })).toMatchObject({ expected: false });
  });

  it('for want of time is expected at any time on a busy machine, and a fault of Leaf is not', () => {
    expect(verdict({ startedAt: 1, endedAt: 2 }, true)).toMatchObject({ expected: true });
    for (const code of ['LEAF_INTERNAL', 'LEAF_LEASE_LOST', 'LEAF_STORE_BACKWARDS', 'LEAF_CLOCK_BACKWARDS', 'reset']) {
      expect(verdict({ code, startedAt: 1, endedAt: 2 }, true)).toMatchObject({ during: 'calm', expected: false });
    }
  });

  it('for want of time is not expected in the calm part, on a busy machine either', () => {
    const one = judge(true);
    one.calmSince = 23_000;
    const call = { server: undefined, caller: 'x', mode: 'segment', tag: 'order' } as const;
    for (const code of ['LEAF_NOT_READY', 'LEAF_SEGMENT_UNAVAILABLE', 'timeout']) {
      for (const startedAt of [22_900, 24_000, 30_000]) one.note({ ...call, code, startedAt, endedAt: startedAt });
    }
    one.note({ ...call, tag: 'passing-1', code: 'LEAF_SEGMENT_UNAVAILABLE', startedAt: 30_000, endedAt: 30_000 });
    const unexpected = one.all().filter(({ expected }) => !expected);
    // A client learns late that the fault is over, and an answer that is late is not a refusal.
    expect(unexpected.map(({ code, atMs }) => [code, atMs])).toEqual([
      ['LEAF_NOT_READY', 24_000],
      ['LEAF_NOT_READY', 30_000],
      ['LEAF_SEGMENT_UNAVAILABLE', 30_000],
    ]);
  });

  it('is judged by what else lasts at the time', () => {
    const one = judge();
    const expected: Fault['expected'] = (_call, others) => (others.length > 0 ? ['LEAF_NOT_READY'] : []);
    const [first] = one.records;
    const call = { server: undefined, caller: 'x', mode: 'snowflake', tag: undefined, code: 'LEAF_NOT_READY' } as const;
    one.records.push({ ...first!, plan: plan('emptied'), fault: { ...fault, expected }, beganAt: 12_000 });
    one.note({ ...call, startedAt: 15_000, endedAt: 15_100 });
    one.records.shift();
    one.note({ ...call, startedAt: 15_000, endedAt: 15_100 });
    expect(one.all().map((tally) => [tally.during, tally.expected])).toEqual([
      ['database-kill + emptied', true],
      ['emptied', false],
    ]);
  });

  it('without an answer in time is a matter of availability', () => {
    expect(verdict({ code: 'timeout', startedAt: 1, endedAt: 2 })).toMatchObject({ expected: true });
  });
});
