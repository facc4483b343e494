import { LeafError } from '@leaf-ids/core';
import { ClientRig } from '../../../../test/support/http/client-rig';
import { watch } from '../../../../test/support/watch';
import { SnowflakeBuffer } from './snowflake-buffer';

const OPTIONS = { minSize: 100, maxSize: 800, durationMs: 10_000, maxAgeMs: 60_000 };

function open(rig: ClientRig, maxAgeMs = OPTIONS.maxAgeMs): SnowflakeBuffer {
  return new SnowflakeBuffer(rig.context, { ...OPTIONS, maxAgeMs });
}

function texts(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => String(from + index));
}

describe('SnowflakeBuffer', () => {
  it('returns IDs without waiting, and prefetches', async () => {
    const rig = new ClientRig();
    const buffer = open(rig);
    await buffer.fill();
    expect(Array.from({ length: 11 }, () => buffer.next())).toEqual(texts(1, 11));
    await rig.settle();
    expect(rig.asked).toEqual([100, 100]);
    expect(Array.from({ length: 189 }, () => buffer.next())).toEqual(texts(12, 200));
  });

  it('returns the same IDs as numbers', async () => {
    const buffer = open(new ClientRig());
    expect(await buffer.takeBigints(2)).toEqual([1n, 2n]);
    expect([buffer.nextBigint(), buffer.next()]).toEqual([3n, '4']);
  });

  it('throws when no ID is buffered, names the remedy, and starts a fetch', async () => {
    const rig = new ClientRig();
    const buffer = open(rig);
    const call = (): string => buffer.next();
    expect(call).toThrow(expect.objectContaining({ code: 'LEAF_NOT_READY', retryable: true, retryAfterMs: 1000 }));
    expect(call).toThrow(/snowflakes\(1\)/);
    await rig.settle();
    expect(buffer.next()).toBe('1');
  });

  it('throws a permanent refusal of the servers', async () => {
    const rig = new ClientRig();
    const buffer = open(rig);
    rig.failure = new LeafError('LEAF_SNOWFLAKE_DISABLED', 'Off.');
    await expect(buffer.take(1)).rejects.toBe(rig.failure);
    expect(() => buffer.next()).toThrow(rig.failure);
    rig.failure = undefined;
    await rig.clock.advance(1000);
    expect(buffer.tryNext()).toBeUndefined();
    await rig.settle();
    expect(buffer.next()).toBe('101');
  });

  it('keeps the failure of the servers as the cause', async () => {
    const rig = new ClientRig();
    const buffer = open(rig);
    rig.failure = ClientRig.outage();
    const refused = watch(buffer.take(1));
    await rig.clock.advance(1000);
    expect(refused.code).toBe('LEAF_SERVERS_UNAVAILABLE');
    expect(() => buffer.next()).toThrow(expect.objectContaining({ code: 'LEAF_NOT_READY', cause: rig.failure }));
  });

  it('takes an ascending batch of 10,000 from several responses', async () => {
    const rig = new ClientRig();
    const buffer = open(rig);
    rig.next = 500_000n;
    await buffer.fill();
    rig.next = 95n;
    const ids = await buffer.take(10_000);
    expect(ids).toEqual([...texts(95, 9994), ...texts(500_000, 500_099)]);
  });

  it('never returns an ID that is too old, and reports how many it drops', async () => {
    const rig = new ClientRig();
    const buffer = open(rig);
    await buffer.fill();
    rig.hold();
    await rig.clock.advance(60_000);
    expect(buffer.next()).toBe('1');
    await rig.clock.advance(1);
    expect(buffer.tryNext()).toBeUndefined();
    expect(rig.log).toContain('expired: 99');
    await rig.clock.advance(30_000);
    const call = watch(buffer.take(1));
    rig.release();
    await rig.settle();
    // The response of the renewal came too late: the request is sent again.
    expect(rig.log.filter((line) => line.startsWith('expired'))).toEqual(['expired: 99', 'expired: 100']);
    expect(call.value).toEqual(['201']);
  });

  it('renews buffered IDs before they are too old, for applications with few calls', async () => {
    const rig = new ClientRig();
    const buffer = open(rig);
    await buffer.fill();
    for (let minute = 0; minute < 60; minute++) {
      await rig.clock.advance(60_000);
      expect(buffer.tryNext()).toBeDefined();
    }
    expect(rig.asked.length).toBeGreaterThan(100);
    expect(rig.asked.length).toBeLessThan(135);
    expect(new Set(rig.asked)).toEqual(new Set([100]));
    expect(buffer.snapshot().buffered).toBeLessThanOrEqual(300);
    buffer.close(new LeafError('LEAF_NOT_READY', 'Closed.'));
    rig.close();
    await rig.settle();
    expect(rig.clock.sleeping).toBe(0);
  });

  it('continues to renew after an outage', async () => {
    const rig = new ClientRig();
    const buffer = open(rig);
    await buffer.fill();
    rig.failure = ClientRig.outage();
    await rig.clock.advance(300_000);
    expect(buffer.tryNext()).toBeUndefined();
    rig.failure = undefined;
    await rig.clock.advance(1000);
    expect(buffer.tryNext()).toBeDefined();
    await rig.clock.advance(60_000);
    expect(buffer.tryNext()).toBeDefined();
  });

  it('keeps IDs without a maximum age, and sends no renewals', async () => {
    const rig = new ClientRig();
    const buffer = open(rig, Infinity);
    await buffer.fill();
    await rig.clock.advance(86_400_000);
    expect(buffer.next()).toBe('1');
    expect(rig.asked).toEqual([100]);
    expect(rig.clock.sleeping).toBe(0);
  });

  it('refuses a repeated batch', async () => {
    const rig = new ClientRig();
    const buffer = open(rig);
    await buffer.fill();
    Array.from({ length: 10 }, () => buffer.next());
    rig.next = 1n;
    buffer.next();
    await rig.settle();
    expect(buffer.snapshot()).toMatchObject({
      buffered: 89,
      failures: 1,
      lastError: expect.stringMatching(/repeated/),
    });
  });
});
