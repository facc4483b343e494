import { LeafError } from '@leaf-ids/core';
import { ClientRig } from '../../../../test/support/http/client-rig';
import { idsOf } from '../../../../test/support/fakes/segment-rig';
import { watch } from '../../../../test/support/watch';
import { RangeBuffer } from './range-buffer';

const OPTIONS = { minSize: 100, maxSize: 1600, durationMs: 10_000 };

function take(buffer: RangeBuffer, count: number): bigint[] {
  return Array.from({ length: count }, () => buffer.tryNext()!);
}

function neverStrict(): never {
  throw new Error('no server has said that');
}

describe('RangeBuffer', () => {
  let rig: ClientRig;
  let buffer: RangeBuffer;

  beforeEach(() => {
    rig = new ClientRig();
    buffer = new RangeBuffer('order', rig.context, OPTIONS, neverStrict);
  });

  it('prefetches when a tenth is used, and returns IDs without waiting', async () => {
    expect(buffer.tryNext()).toBeUndefined();
    await rig.settle();
    expect(take(buffer, 10)).toEqual(idsOf({ from: 1n, to: 10n }));
    await rig.settle();
    expect(rig.asked).toEqual([100]);
    expect(buffer.tryNext()).toBe(11n);
    await rig.settle();
    expect(rig.asked).toEqual([100, 100]);
    expect(take(buffer, 99)).toEqual(idsOf({ from: 12n, to: 110n }));
    await rig.settle();
    expect(rig.asked).toEqual([100, 100]);
    expect(buffer.tryNext()).toBe(111n);
    await rig.settle();
    expect(rig.asked).toEqual([100, 100, 200]);
    expect(take(buffer, 289)).toEqual(idsOf({ from: 112n, to: 400n }));
  });

  it('returns the same IDs as numbers', async () => {
    expect(buffer.tryNextNumber()).toBeUndefined();
    await rig.settle();
    expect(Array.from({ length: 10 }, () => buffer.tryNextNumber())).toEqual(idsOf({ from: 1n, to: 10n }).map(Number));
    await rig.settle();
    expect(rig.asked).toEqual([100]);
    expect([buffer.tryNextNumber(), buffer.tryNext()]).toEqual([11, 12n]);
    await rig.settle();
    expect(rig.asked).toEqual([100, 100]);
  });

  it('adapts the request size to the consumption within its bounds', async () => {
    const use = async (sizes: number, everyMs: number): Promise<number[]> => {
      const before = rig.asked.length;
      while (rig.asked.length < before + sizes) {
        await buffer.take();
        await rig.clock.advance(everyMs);
      }
      return rig.asked.slice(before);
    };
    expect(await use(7, 1)).toEqual([100, 100, 200, 400, 800, 1600, 1600]);
    // 1600 IDs last 16 s: between durationMs and twice that.
    expect(await use(4, 10)).toEqual([1600, 1600, 1600, 1600]);
    expect(await use(5, 1000)).toEqual([800, 400, 200, 100, 100]);
  });

  it('sends one request for all waiting callers, and serves them in order', async () => {
    const singles = Array.from({ length: 30 }, () => watch(buffer.take()));
    const many = watch(buffer.takeRanges(500));
    await rig.settle();
    expect(singles.map(({ value }) => value)).toEqual(idsOf({ from: 1n, to: 30n }));
    expect(many.value).toEqual([{ from: 31n, to: 530n }]);
    expect(rig.asked[0]).toBe(530);
  });

  it('takes a range of a million in one request', async () => {
    expect(await buffer.takeRanges(1_000_000)).toEqual([{ from: 1n, to: 1_000_000n }]);
    expect(rig.asked[0]).toBe(1_000_000);
    await rig.settle();
    expect(rig.asked.slice(1)).toEqual([100]);
  });

  it('returns ascending ranges, of IDs that follow each other', async () => {
    await buffer.fill();
    take(buffer, 90);
    await rig.settle();
    expect(await buffer.takeRanges(50)).toEqual([{ from: 91n, to: 100n }, { from: 101n, to: 140n }]); // prettier-ignore
  });

  it('returns ascending ranges even after a change of the server', async () => {
    rig.next = 5000n;
    await buffer.fill();
    take(buffer, 90);
    rig.next = 100n;
    await rig.settle();
    await buffer.fill();
    expect(await buffer.takeRanges(50)).toEqual([{ from: 100n, to: 139n }, { from: 5090n, to: 5099n }]); // prettier-ignore
  });

  it('serves buffered IDs while all servers are down, then rejects at the deadline', async () => {
    await rig.clock.advance(10_000);
    await buffer.fill();
    expect(buffer.snapshot()).toEqual({
      ...{ buffered: 100, size: 100, loading: false, loads: 1 },
      ...{ failures: 0, lastLoadMs: 0, lastError: undefined },
    });
    rig.failure = ClientRig.outage();
    expect(take(buffer, 100)).toEqual(idsOf({ from: 1n, to: 100n }));
    expect(buffer.tryNext()).toBeUndefined();
    const late = watch(buffer.take());
    await rig.clock.advance(999);
    expect(late.settled).toBe(false);
    await rig.clock.advance(1);
    expect(late.code).toBe('LEAF_SERVERS_UNAVAILABLE');
    rig.failure = undefined;
    const waiting = watch(buffer.take());
    await rig.clock.advance(1000);
    expect(waiting.value).toBeDefined();
    expect(rig.log.filter((line) => line.includes('All are down'))).toHaveLength(1);
  });

  it('retries with backoff after a failure, without effect on callers while IDs are buffered', async () => {
    await buffer.fill();
    rig.failure = ClientRig.outage();
    take(buffer, 11);
    await rig.clock.advance(10_000);
    const tries = rig.asked.length;
    expect(tries).toBeGreaterThan(15);
    expect(tries).toBeLessThan(40);
    rig.failure = undefined;
    await rig.clock.advance(1000);
    expect(buffer.snapshot()).toMatchObject({ buffered: 189, lastError: undefined, loading: false });
  });

  it('reports the first failure of a series, and every hundredth', async () => {
    await buffer.fill();
    const down = (): number => rig.log.filter((line) => line.includes('All are down')).length;
    rig.failure = ClientRig.outage();
    take(buffer, 11);
    await rig.clock.advance(250_000);
    const { failures } = buffer.snapshot();
    expect(failures).toBeGreaterThan(200);
    expect(down()).toBe(Math.ceil(failures / 100));
    rig.failure = undefined;
    await rig.clock.advance(1000);
    rig.failure = ClientRig.outage();
    take(buffer, 100);
    await rig.settle();
    expect(down()).toBe(Math.ceil(failures / 100) + 1);
  });

  it('stops retrying for a tag that never had an ID and has no waiting callers', async () => {
    rig.failure = ClientRig.outage();
    const refused = watch(buffer.take());
    await rig.clock.advance(5000);
    expect(refused.code).toBe('LEAF_SERVERS_UNAVAILABLE');
    expect(buffer.idle).toBe(true);
    expect(rig.clock.sleeping).toBe(0);
    rig.failure = undefined;
    expect(await buffer.take()).toBeDefined();
    expect(buffer.idle).toBe(false);
  });

  it('asks again at once for a caller after a failure that nobody waited for', async () => {
    rig.failure = ClientRig.outage();
    buffer.tryNext();
    expect(buffer.idle).toBe(false);
    await rig.settle();
    expect([buffer.idle, rig.asked]).toEqual([true, [100]]);
    rig.failure = undefined;
    expect(await buffer.take()).toBe(101n);
  });

  it('reports that no server responded', async () => {
    rig.hold();
    const late = watch(buffer.take());
    await rig.clock.advance(1000);
    expect(late.error).toMatchObject({ code: 'LEAF_SERVERS_UNAVAILABLE', retryAfterMs: 1000 });
    rig.release();
    await rig.settle();
    expect(buffer.tryNext()).toBe(1n);
  });

  it('caches a permanent refusal for a second', async () => {
    rig.failure = new LeafError('LEAF_TAG_NOT_FOUND', 'No such tag.');
    const all = Array.from({ length: 5 }, () => watch(buffer.take()));
    await rig.settle();
    expect(all.map(({ code }) => code)).toEqual(Array.from({ length: 5 }, () => 'LEAF_TAG_NOT_FOUND'));
    await rig.clock.advance(999);
    await expect(buffer.take()).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    expect(buffer.tryNext()).toBeUndefined();
    expect(rig.asked).toHaveLength(1);
    expect(rig.log).toStrictEqual([]);
    rig.failure = undefined;
    await rig.clock.advance(1);
    expect(await buffer.take()).toBe(101n);
  });

  describe('of a tag with few IDs left', () => {
    it('asks for them in growing numbers, and for one a second once there is none', async () => {
      rig.left = 5;
      const ids: bigint[] = [];
      for (let call = 0; call < 5; call++) ids.push(await buffer.take());
      expect(ids).toEqual(idsOf({ from: 1n, to: 5n }));
      await expect(buffer.take()).rejects.toMatchObject({ code: 'LEAF_TAG_EXHAUSTED' });
      rig.asked.length = 0;
      for (let second = 0; second < 3; second++) {
        await rig.clock.advance(1000);
        for (let call = 0; call < 5; call++) await expect(buffer.take()).rejects.toThrow('Fewer are left');
      }
      expect(rig.asked).toEqual([1, 1, 1]);
    });

    it('takes no more than it needs once the tag has more again', async () => {
      rig.left = 30;
      const use = async (calls: number): Promise<void> => {
        for (let call = 0; call < calls; call++) {
          await buffer.take();
          await rig.clock.advance(10);
        }
      };
      await use(30);
      await rig.clock.advance(1000);
      rig.left = 100_000;
      await use(30);
      expect(100_000 - rig.left).toBeLessThan(300);
    });
  });

  it('serves buffered IDs after a permanent refusal', async () => {
    await buffer.fill();
    rig.failure = new LeafError('LEAF_TAG_NOT_FOUND', 'No such tag.');
    take(buffer, 20);
    await rig.settle();
    expect(take(buffer, 80)).toEqual(idsOf({ from: 21n, to: 100n }));
    await expect(buffer.take()).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    expect(rig.asked).toHaveLength(2);
  });

  it('reports an error in the client as an internal error', async () => {
    rig.failure = new TypeError('bug');
    await expect(buffer.take()).rejects.toMatchObject({ code: 'LEAF_INTERNAL', cause: rig.failure });
  });

  it('refuses a repeated range', async () => {
    await buffer.fill();
    rig.next = 50n;
    take(buffer, 100);
    await rig.settle();
    await expect(buffer.take()).rejects.toMatchObject({ cause: expect.objectContaining({ name: 'ServerFault' }) });
  });

  it('refuses a response of many ranges that is repeated after 31 others', async () => {
    buffer = new RangeBuffer('order', rig.context, { ...OPTIONS, maxSize: 100 }, neverStrict);
    rig.pieces = 4;
    await buffer.fill();
    for (let answers = 1; answers < 32; answers++) {
      take(buffer, 100);
      await rig.settle();
    }
    expect(rig.asked).toHaveLength(32);
    rig.next = 1n;
    take(buffer, 11);
    await rig.settle();
    expect(rig.asked).toHaveLength(33);
    expect(buffer.snapshot().lastError).toMatch(/repeated IDs of tag "order"/);
  });

  it('limits the waiting calls', async () => {
    rig = new ClientRig(3);
    buffer = new RangeBuffer('order', rig.context, OPTIONS, neverStrict);
    rig.hold();
    const waiting = Array.from({ length: 3 }, () => watch(buffer.take()));
    await expect(buffer.take()).rejects.toMatchObject({ code: 'LEAF_OVERLOADED', retryAfterMs: 1000 });
    rig.release();
    await rig.settle();
    expect(waiting.map(({ value }) => value)).toEqual([1n, 2n, 3n]);
    expect(rig.callerLimit.waiting).toBe(0);
    expect(await buffer.takeRanges(100)).toHaveLength(2);
  });

  it('serves buffered IDs also beyond that limit', async () => {
    rig = new ClientRig(1);
    buffer = new RangeBuffer('order', rig.context, OPTIONS, neverStrict);
    await buffer.fill();
    rig.hold();
    const waiting = watch(buffer.takeRanges(500));
    await rig.settle();
    expect(await buffer.take()).toBe(1n);
    rig.release();
    await rig.settle();
    expect(waiting.settled).toBe(true);
  });

  it('rejects all calls once closed, and returns the number of dropped IDs', async () => {
    await buffer.fill();
    take(buffer, 5);
    rig.hold();
    const waiting = watch(buffer.takeRanges(500));
    const reason = new LeafError('LEAF_NOT_READY', 'Closed.');
    expect(buffer.close(reason)).toBe(95);
    rig.close();
    expect(buffer.close(new LeafError('LEAF_NOT_READY', 'Closed again.'))).toBe(0);
    await rig.settle();
    expect(waiting.error).toBe(reason);
    rig.release();
    await rig.settle();
    const requests = rig.asked.length;
    expect(buffer.tryNext()).toBeUndefined();
    await expect(buffer.take()).rejects.toBe(reason);
    expect(rig.asked).toHaveLength(requests);
    expect(buffer.snapshot().buffered).toBe(0);
    expect(rig.clock.sleeping).toBe(0);
  });

  it('reports no failure once closed', async () => {
    rig.hold();
    const waiting = watch(buffer.take());
    await rig.settle();
    buffer.close(new LeafError('LEAF_NOT_READY', 'Closed.'));
    rig.close();
    rig.failure = ClientRig.outage();
    rig.release();
    await rig.settle();
    expect([waiting.code, rig.log]).toEqual(['LEAF_NOT_READY', []]);
  });
});
