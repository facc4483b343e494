import { LeafError } from '@leaf-ids/core';
import { ClientRig } from '../../../../test/support/http/client-rig';
import { watch, type Watched } from '../../../../test/support/watch';
import { TagBuffers } from '../tag-buffers';
import { StrictBuffer } from './strict-buffer';

const OPTIONS = { minSize: 100, maxSize: 800, durationMs: 10_000 };

function values(watched: readonly Watched<unknown>[]): unknown[] {
  return watched.map(({ value }) => value);
}

describe('a strict tag of a client', () => {
  let rig: ClientRig;
  let tags: TagBuffers;

  beforeEach(() => {
    rig = new ClientRig(10_000);
    rig.strict = true;
    tags = new TagBuffers(rig.context, OPTIONS);
  });

  function calls(count: number): Watched<bigint>[] {
    return Array.from({ length: count }, () => watch(tags.open('order').take()));
  }

  it('is detected by the first response, whose IDs are dropped', async () => {
    const first = [...calls(2), watch(tags.open('order').takeRanges(3))];
    await rig.settle();
    expect(rig.asked).toEqual([100, 5]);
    expect(values(first)).toEqual([101n, 102n, [{ from: 103n, to: 105n }]]);
    expect(tags.get('order')).toBeInstanceOf(StrictBuffer);
    expect(tags.get('order')!.tryNext()).toBeUndefined();
    expect(rig.log).toStrictEqual([]);
  });

  it('is detected by ready() before the first call', async () => {
    await tags.open('order').fill();
    expect(rig.asked).toEqual([100]);
    expect(await tags.open('order').take()).toBe(101n);
    expect(rig.asked).toEqual([100, 1]);
    await tags.open('order').fill();
    expect(tags.snapshot()).toEqual([expect.objectContaining({ tag: 'order', buffered: 0, loads: 1, size: 1 })]);
  });

  it('drops buffered IDs when a tag is created again as a strict one', async () => {
    rig.strict = false;
    await tags.open('order').fill();
    rig.strict = true;
    for (let n = 0; n < 11; n++) tags.get('order')!.tryNext();
    await rig.settle();
    expect(tags.get('order')!.tryNext()).toBeUndefined();
    expect(await tags.open('order').take()).toBe(201n);
  });

  describe('once it is known', () => {
    beforeEach(async () => {
      await tags.open('order').fill();
      rig.asked.length = 0;
    });

    it('requests as many IDs as callers wait for, four requests at a time, and none of them for later callers', async () => {
      rig.hold();
      const first = calls(3);
      await rig.settle();
      const others: Watched<bigint>[] = [];
      for (let request = 0; request < 3; request++) {
        others.push(...calls(1));
        await rig.settle();
      }
      const late = calls(2);
      await rig.settle();
      expect(rig.asked).toEqual([3, 1, 1, 1]);
      // Another client, whose call was answered before the one here is.
      rig.next = 500n;
      rig.release();
      await rig.settle();
      expect(values([...first, ...others])).toEqual([101n, 102n, 103n, 104n, 105n, 106n]);
      expect(values(late)).toEqual([500n, 501n]);
      expect(rig.asked).toEqual([3, 1, 1, 1, 2]);
    });

    it('leaves a gap for a caller that timed out before the response', async () => {
      rig.hold();
      const gone = calls(1);
      await rig.clock.advance(1000);
      expect(gone[0]!.code).toBe('LEAF_SERVERS_UNAVAILABLE');
      const next = calls(1);
      await rig.settle();
      rig.release();
      await rig.settle();
      expect(values(next)).toEqual([102n]);
    });

    it('sends a new request after a failure, for the callers that wait then', async () => {
      rig.failure = ClientRig.outage();
      const early = calls(1);
      await rig.settle();
      const late = calls(1);
      rig.failure = undefined;
      await rig.clock.advance(1000);
      expect(rig.asked).toEqual([1, 2]);
      expect(values([...early, ...late])).toEqual([102n, 103n]);
      expect(rig.log).toEqual([expect.stringContaining('All are down')]);
    });

    it('sends one request at a time after a failure, until one succeeds', async () => {
      rig.failure = ClientRig.outage();
      const early = calls(1);
      await rig.settle();
      rig.failure = undefined;
      rig.hold();
      await rig.clock.advance(100);
      const others = calls(2);
      await rig.settle();
      expect(rig.asked).toEqual([1, 1]);
      rig.release();
      await rig.settle();
      expect(rig.asked).toEqual([1, 1, 2]);
      expect(values([...early, ...others])).toEqual([102n, 103n, 104n]);
    });

    it('reports the first failure of a series', async () => {
      const down = (): number => rig.log.filter((line) => line.includes('All are down')).length;
      for (const reports of [1, 2]) {
        rig.failure = ClientRig.outage();
        const waiting = calls(1);
        await rig.clock.advance(500);
        expect([rig.asked.length > 2, down()]).toEqual([true, reports]);
        rig.failure = undefined;
        await rig.clock.advance(500);
        expect(waiting[0]!.value).toBeDefined();
        expect(tags.snapshot()).toEqual([expect.objectContaining({ lastError: undefined, loads: reports })]);
      }
    });

    it('is idle without callers and requests, and tells what it loads', async () => {
      await rig.clock.advance(5000);
      const idle = (): boolean => tags.get('order')!.idle;
      expect(idle()).toBe(true);
      rig.hold();
      const gone = calls(3);
      expect(idle()).toBe(false);
      await rig.settle();
      expect(tags.snapshot()).toEqual([expect.objectContaining({ buffered: 0, size: 3, loading: true })]);
      await rig.clock.advance(1000);
      expect([gone[0]!.settled, idle()]).toEqual([true, false]);
      rig.release();
      await rig.settle();
      const lastLoadMs = 1000;
      expect(tags.snapshot()).toEqual([expect.objectContaining({ loading: false, loads: 1, failures: 0, lastLoadMs })]);
      expect(idle()).toBe(true);
    });

    it('rejects at the deadline when no server responds', async () => {
      rig.failure = ClientRig.outage();
      const refused = calls(1);
      await rig.clock.advance(999);
      expect(refused[0]!.settled).toBe(false);
      await rig.clock.advance(1);
      expect(refused[0]!.error).toBe(rig.failure);
      // With the waits between them, from 25 ms to a second.
      expect(rig.asked.length).toBeGreaterThan(3);
      expect(rig.asked.length).toBeLessThan(10);
      await rig.clock.advance(1000);
      expect(rig.clock.sleeping).toBe(0);
    });

    it('rejects at once with a permanent refusal', async () => {
      rig.failure = new LeafError('LEAF_TAG_NOT_FOUND', 'No such tag.');
      const refused = calls(2);
      await rig.settle();
      expect(refused.map(({ code }) => code)).toEqual(['LEAF_TAG_NOT_FOUND', 'LEAF_TAG_NOT_FOUND']);
      expect(rig.asked).toEqual([2]);
      rig.failure = new TypeError('bug');
      await expect(tags.open('order').takeRanges(2)).rejects.toMatchObject({
        code: 'LEAF_INTERNAL',
        cause: rig.failure,
      });
    });

    it('sends one request per caller when a common one exhausts the tag', async () => {
      rig.failure = new LeafError('LEAF_TAG_EXHAUSTED', 'Used up.');
      rig.hold();
      const [one, many] = [watch(tags.open('order').take()), watch(tags.open('order').takeRanges(5))];
      await rig.settle();
      rig.release();
      await rig.settle();
      expect([one.code, many.code]).toEqual(['LEAF_TAG_EXHAUSTED', 'LEAF_TAG_EXHAUSTED']);
      // What one ID was refused for, five are refused for too.
      expect(rig.asked).toEqual([6, 1]);
    });

    it('asks a tag that has fewer IDs left once a second, and at once for a smaller number', async () => {
      rig.failure = new LeafError('LEAF_TAG_EXHAUSTED', 'Fewer are left.');
      const refused = async (count: number): Promise<void> =>
        expect(tags.open('order').takeRanges(count)).rejects.toBe(rig.failure);
      for (let call = 0; call < 10; call++) await refused(5);
      expect(rig.asked).toEqual([5]);
      for (let call = 0; call < 10; call++) await refused(3);
      expect(rig.asked).toEqual([5, 3]);
      rig.failure = undefined;
      expect(await tags.open('order').takeRanges(2)).toEqual([{ from: 109n, to: 110n }]);
      expect(rig.asked).toEqual([5, 3, 2]);
      const [fits, waits] = [watch(tags.open('order').takeRanges(1)), watch(tags.open('order').takeRanges(3))];
      await rig.settle();
      expect([fits.value, waits.code]).toEqual([[{ from: 111n, to: 111n }], 'LEAF_TAG_EXHAUSTED']);
      await rig.clock.advance(1000);
      expect(await tags.open('order').takeRanges(5)).toEqual([{ from: 112n, to: 116n }]);
    });

    it('refuses a response that is not above all earlier ones', async () => {
      expect(await tags.open('order').take()).toBe(101n);
      rig.next = 101n;
      await expect(tags.open('order').take()).rejects.toMatchObject({
        cause: expect.objectContaining({ name: 'ServerFault' }),
      });
    });

    it('refuses a response with more than one range', async () => {
      rig.pieces = 2;
      await expect(tags.open('order').takeRanges(4)).rejects.toMatchObject({
        cause: expect.objectContaining({ message: expect.stringContaining('has more than one range') }),
      });
    });

    it('limits the waiting calls of all tags', async () => {
      rig.hold();
      const waiting = calls(10_000);
      await expect(tags.open('order').take()).rejects.toMatchObject({ code: 'LEAF_OVERLOADED' });
      rig.release();
      await rig.settle();
      expect(waiting.at(-1)!.value).toBe(10_100n);
      expect(rig.callerLimit.waiting).toBe(0);
    });

    it('refuses all once closed', async () => {
      rig.hold();
      const waiting = calls(1);
      await rig.settle();
      const reason = new LeafError('LEAF_NOT_READY', 'Closed.');
      expect(tags.close(reason)).toEqual(new Map());
      rig.close();
      await rig.settle();
      expect(waiting[0]!.error).toBe(reason);
      await expect(tags.get('order')!.take()).rejects.toBe(reason);
      rig.failure = ClientRig.outage();
      rig.release();
      await rig.settle();
      expect(rig.clock.sleeping).toBe(0);
      expect(rig.log).toStrictEqual([]);
    });
  });

  it('is not detected after the client is closed', async () => {
    rig.hold();
    const waiting = calls(1);
    await rig.settle();
    const reason = new LeafError('LEAF_NOT_READY', 'Closed.');
    tags.close(reason);
    rig.close();
    rig.release();
    await rig.settle();
    expect(waiting[0]!.error).toBe(reason);
    expect(tags.get('order')).not.toBeInstanceOf(StrictBuffer);
  });
});
