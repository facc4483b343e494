import { BitLayout, DEFAULT_LAYOUT, LeafError } from '@leaf-ids/core';
import { defaultLayout } from '@leaf-ids/core/internal';
import { coded, HALF, LOST, WINDOW_MS, WindowRig } from '../../../../test/support/fakes/window-rig';
import { watch } from '../../../../test/support/watch';
import { newLease } from './lease-requests';

const NOT_FOUND = new LeafError('LEAF_LEASE_NOT_FOUND', 'It was released.');
const OTHER_LAYOUT = { ...DEFAULT_LAYOUT, workerBits: 9, sequenceBits: 13 };

const layout = defaultLayout();

describe('WindowSnowflakes', () => {
  let rig: WindowRig;
  beforeEach(() => (rig = new WindowRig()));
  afterEach(() => rig.end());

  it('sends no request before the first call, and then one with a lease, a name and a length', async () => {
    await rig.clock.advance(WINDOW_MS);
    expect(rig.requests).toStrictEqual([]);
    expect(rig.ids.layout).toBeUndefined();
    expect(rig.ids.view()).toEqual({
      ...{ workerId: undefined, from: -1, until: -1, issued: 0, lastTimestamp: -1 },
      ...{ behindMs: 0, backwardsSteps: 0 },
    });
    expect(() => rig.ids.next()).toThrow(coded('LEAF_NOT_READY'));
    await rig.open();
    expect(rig.requests).toHaveLength(1);
    expect(rig.requests[0]?.body).toEqual({ lease: '1'.padStart(32, '0'), holder: 'billing', windowMs: WINDOW_MS });
    expect(rig.issued()).toMatchObject({ workerId: 17, timestamp: rig.clock.now() });
    expect(rig.log).toEqual(['acquired 17']);
    expect(rig.ids.view()).toMatchObject({
      workerId: 17,
      from: rig.from,
      until: rig.clock.now() + WINDOW_MS,
      issued: 1,
    });
  });

  it('issues IDs as texts and as numbers, also more than fit into one millisecond, and knows the layout', async () => {
    await rig.open();
    expect(rig.ids.layout).toEqual(layout);
    const texts = [rig.ids.tryNext()!, rig.ids.next(), ...(await rig.ids.take(2))];
    const waiting = rig.ids.takeBigints(5000);
    await rig.clock.advance(2);
    const ids = [...texts.map(BigInt), rig.ids.nextBigint(), ...(await waiting)];
    expect(new Set(ids).size).toBe(5005);
    expect(layout.decompose(ids.at(-1)!).timestamp).toBe(rig.clock.now() - 1);
  });

  it('has room for a caller when others are served', async () => {
    await rig.open();
    for (let call = 0; call < 200; call++) expect(await rig.ids.take(1)).toHaveLength(1);
  });

  it('asks again with the same lease when the answer is lost', async () => {
    rig.failure = WindowRig.outage();
    await rig.open();
    await rig.clock.advance(200);
    rig.failure = undefined;
    await rig.clock.advance(200);
    expect(rig.asked.length).toBeGreaterThan(2);
    expect(new Set(rig.asked)).toEqual(new Set(['POST 1']));
    expect(rig.issued().workerId).toBe(17);
    expect(rig.log).toEqual([expect.stringMatching(/^failed: /), 'acquired 17']);
  });

  it('extends when half of the window has passed, and names its worker', async () => {
    const { until: known } = (await rig.open()).ids.view();
    await rig.clock.advance(HALF - 1);
    expect(rig.asked).toEqual(['POST 1']);
    await rig.clock.advance(1);
    expect(rig.asked).toEqual(['POST 1', 'PUT 1']);
    expect(rig.requests[1]?.body).toEqual({ windowMs: WINDOW_MS, workerId: 17, known, mark: expect.any(Number) });
    expect(rig.ids.view().until).toBe(rig.clock.now() + WINDOW_MS);
    await rig.clock.advance(10 * HALF);
    expect(rig.requests).toHaveLength(12);
  });

  it('tells the end that it knows, and marks each extension, but not each try of it, anew', async () => {
    let draws = 0;
    rig = new WindowRig(undefined, (range) => ++draws % range);
    const { until } = (await rig.open()).ids.view();
    rig.failure = WindowRig.outage();
    await rig.clock.advance(HALF + 3000);
    rig.failure = undefined;
    await rig.clock.advance(20 * HALF);
    const progress = rig.requests.slice(1).map(({ body }) => body as { known: number; mark: number });
    const tries = progress.filter(({ known }) => known === until);
    expect(tries.length).toBeGreaterThan(1);
    expect(new Set(tries.map(({ mark }) => mark)).size).toBe(1);
    expect(new Set(progress.map(({ mark }) => mark)).size).toBeGreaterThan(1);
    expect(new Set(progress.map(({ known }) => known)).size).toBe(progress.length - tries.length + 1);
  });

  it('has another lease and another mark than a copy of the process, which draws the same random numbers', async () => {
    const copy = new WindowRig();
    await copy.clock.advance(0.01);
    const drawn: { lease: string; mark: unknown }[] = [];
    for (const each of [rig, copy]) {
      await each.open();
      await each.clock.advance(HALF);
      drawn.push({ lease: newLease(each.clock, (bytes) => Buffer.alloc(bytes)), mark: each.requests[1]?.body.mark });
    }
    expect(drawn.map(({ lease }) => lease.length)).toEqual([32, 32]);
    expect(new Set(drawn.map(({ lease }) => lease)).size).toBe(2);
    expect(new Set(drawn.map(({ mark }) => mark)).size).toBe(2);
    await copy.close();
  });

  it('tells nothing to servers of an earlier version, which refuse it', async () => {
    await rig.open();
    rig.failure = new LeafError('LEAF_BODY_INVALID', '"known" is an unknown property.');
    await rig.clock.advance(HALF);
    rig.failure = undefined;
    await rig.clock.advance(2000);
    expect(rig.requests.at(-1)?.body).toEqual({ windowMs: WINDOW_MS, workerId: 17 });
    expect(rig.issued().workerId).toBe(17);
    expect(rig.log).toEqual(['acquired 17', expect.stringMatching(/^failed: /)]);
  });

  it('issues up to the end of the window and no further while no server answers, then continues', async () => {
    const { until } = (await rig.open()).ids.view();
    rig.failure = WindowRig.outage();
    await rig.clock.advance(until - rig.clock.now());
    expect(rig.issued().timestamp).toBe(until);
    await rig.clock.advance(1);
    expect(() => rig.ids.next()).toThrow(coded('LEAF_LEASE_EXPIRED'));
    expect(rig.ids.tryNext()).toBeUndefined();
    rig.failure = undefined;
    const waiting = rig.ids.takeBigints(1);
    await rig.clock.advance(4000);
    expect(layout.decompose((await waiting)[0] as bigint).workerId).toBe(17);
    expect(new Set(rig.asked)).toEqual(new Set(['POST 1', 'PUT 1']));
  });

  it.each([LOST, NOT_FOUND])('stops at once after $code, and acquires with a new lease', async (error) => {
    await rig.open();
    const { workerId } = rig.issued();
    rig.refuse('PUT', error);
    rig.workerId = 18;
    rig.from = rig.clock.now() + HALF - 20;
    await rig.clock.advance(HALF);
    expect(() => rig.ids.next()).toThrow(coded('LEAF_NOT_READY'));
    await rig.clock.advance(25);
    expect(rig.asked).toEqual(['POST 1', 'PUT 1', 'POST 2']);
    expect(rig.issued().workerId).not.toBe(workerId);
    expect(rig.log.filter((line) => !line.startsWith('failed'))).toEqual(['acquired 17', 'lost 17', 'acquired 18']);
  });

  it('never repeats a timestamp of its worker after a new lease, though its window begins lower', async () => {
    await rig.open();
    await rig.clock.advance(HALF - 1);
    const { timestamp } = rig.issued();
    rig.refuse('PUT', NOT_FOUND);
    await rig.clock.advance(1);
    await rig.clock.advance(20);
    expect(rig.asked.at(-1)).toBe('POST 2');
    // Less than what the generator absorbs: it would use the time again.
    rig.clock.step(timestamp - rig.clock.now());
    expect(rig.ids.view().workerId).toBe(17);
    expect(() => rig.ids.next()).toThrow(coded('LEAF_NOT_READY'));
    await rig.clock.advance(1);
    expect(rig.issued().timestamp).toBe(timestamp + 1);
  });

  it('applies a response with a lower end', async () => {
    await rig.open();
    rig.answer = (request) => ({ ...rig.sound(request), until: rig.clock.now() + 5 });
    await rig.clock.advance(HALF);
    await rig.clock.advance(6);
    expect(() => rig.ids.next()).toThrow(coded('LEAF_LEASE_EXPIRED'));
  });

  it.each<[string, object]>([
    ['of another lease', { lease: '0'.repeat(32) }],
    ['of another worker', { workerId: 18 }],
    ['with another beginning', { from: 1 }],
    ['without an end', { until: null }],
    ['with a fractional end', { until: 1.5 }],
    ['with a layout that does not exist', { layout: { ...DEFAULT_LAYOUT, workerBits: 40 } }],
  ])('refuses an extension %s', async (_, fields) => {
    const { until } = (await rig.open()).ids.view();
    rig.answer = (request) => ({ ...rig.sound(request), ...fields });
    await rig.clock.advance(HALF);
    rig.answer = (request) => rig.sound(request);
    expect(rig.ids.view().until).toBe(until);
    expect(rig.log[1]).toMatch(/^failed: ServerFault: invalid response/);
  });

  it('waits for the beginning of the window', async () => {
    rig.from = rig.clock.now() + 300;
    const ready = watch(rig.ids.fill());
    await rig.open();
    expect(() => rig.ids.next()).toThrow(coded('LEAF_NOT_READY'));
    await rig.clock.advance(299);
    expect([rig.ids.tryNext(), ready.settled]).toEqual([undefined, false]);
    await rig.clock.advance(1);
    expect(rig.issued().timestamp).toBe(rig.from);
    await rig.clock.advance(10);
    expect([ready.settled, ready.error]).toEqual([true, undefined]);
  });

  it('extends a clock ahead of the servers in time, and not again and again', async () => {
    await rig.open();
    rig.answer = (request) => ({ ...rig.sound(request), now: rig.clock.now() - WINDOW_MS, until: rig.clock.now() });
    await rig.clock.advance(HALF);
    const before = rig.requests.length;
    for (let second = 0; second < 60; second++) {
      await rig.clock.advance(1000);
      rig.ids.tryNext();
    }
    expect(rig.requests.length - before).toBeGreaterThanOrEqual(9);
    expect(rig.requests.length - before).toBeLessThanOrEqual(10);
  });

  it('extends when its clock was set forward', async () => {
    await rig.open();
    await rig.clock.advance(10_000);
    rig.clock.step(WINDOW_MS);
    const waiting = rig.ids.take(1);
    await rig.clock.advance(10);
    expect(await waiting).toHaveLength(1);
    expect(rig.asked).toEqual(['POST 1', 'PUT 1']);
  });

  it('ends for good when the layout of the servers changes, and releases its worker', async () => {
    await rig.open();
    const { timestamp } = rig.issued();
    rig.layout = OTHER_LAYOUT;
    await rig.clock.advance(2 * HALF);
    expect(() => rig.ids.next()).toThrow(coded('LEAF_LAYOUT_MISMATCH'));
    await expect(rig.ids.take(1)).rejects.toMatchObject({ code: 'LEAF_LAYOUT_MISMATCH' });
    await rig.close();
    expect(rig.asked).toEqual(['POST 1', 'PUT 1', 'DELETE 1']);
    expect(rig.requests.at(-1)?.body).toMatchObject({ lastTimestamp: timestamp });
  });

  it('refuses another layout than that of its options', async () => {
    rig = new WindowRig(new BitLayout(OTHER_LAYOUT));
    await rig.open();
    expect(() => rig.ids.next()).toThrow(coded('LEAF_LAYOUT_MISMATCH'));
  });

  it('keeps a permanent refusal for a second, then asks again with the same lease', async () => {
    rig.failure = new LeafError('LEAF_WORKERS_USED_UP', 'All are used.', { status: 409 });
    const calls = await Promise.allSettled([rig.ids.take(1), rig.ids.takeBigints(2)]);
    for (const call of calls) expect(call).toEqual({ status: 'rejected', reason: rig.failure });
    expect(() => rig.ids.next()).toThrow(rig.failure);
    expect(rig.asked).toEqual(['POST 1']);
    rig.failure = undefined;
    await rig.clock.advance(1000);
    const ids = rig.ids.take(3);
    await rig.open();
    expect(await ids).toHaveLength(3);
    expect(rig.asked).toEqual(['POST 1', 'POST 1']);
  });

  it('waits no longer than the limit of a call, then rejects with the last error of the servers', async () => {
    rig.failure = WindowRig.outage();
    const call = rig.ids.take(1).catch((error: unknown) => error);
    await rig.clock.advance(1000);
    expect(await call).toBe(rig.failure);
  });

  describe('when it closes', () => {
    const lastRequest = () => rig.requests.at(-1);

    it('releases with the newest timestamp', async () => {
      await rig.open();
      await rig.clock.advance(100);
      const { timestamp } = rig.issued();
      await rig.clock.advance(100);
      await rig.close();
      expect(lastRequest()).toMatchObject({ method: 'DELETE', body: { lastTimestamp: timestamp } });
      expect(() => rig.ids.next()).toThrow('closed');
    });

    it('releases with the time before the window if it has issued no ID in it', async () => {
      await rig.open();
      rig.issued();
      rig.refuse('PUT', LOST);
      rig.from = rig.clock.now() + HALF;
      await rig.clock.advance(HALF + 25);
      await rig.close();
      expect(rig.asked).toEqual(['POST 1', 'PUT 1', 'POST 2', 'DELETE 2']);
      expect(lastRequest()?.body).toMatchObject({ lastTimestamp: rig.from - 1 });
    });

    it('releases what a request without an answer may have given', async () => {
      rig.failure = WindowRig.outage();
      await rig.open();
      await rig.close();
      expect(rig.asked.at(-1)).toBe('DELETE 1');
      expect(lastRequest()?.body).toEqual({ lastTimestamp: 0 });
      // It has tried again until the limit of a call.
      expect(rig.asked.filter((each) => each === 'DELETE 1').length).toBeGreaterThan(2);
    });

    it('issues no ID under an answer that arrives after that, and releases what it gives', async () => {
      rig.ids.tryNext();
      await rig.close();
      expect(rig.asked).toEqual(['POST 1', 'DELETE 1']);
      expect(lastRequest()?.body).toMatchObject({ lastTimestamp: rig.from - 1 });
      expect(() => rig.ids.next()).toThrow('closed');
      expect(rig.log).toStrictEqual([]);
    });

    it('rejects the waiting calls, and sends nothing if it has no lease', async () => {
      const call = rig.ids.take(1);
      rig.failure = WindowRig.outage();
      await rig.clock.advance(10);
      const ended = expect(call).rejects.toMatchObject({ message: 'closed' });
      await rig.close();
      await ended;
      const unused = new WindowRig();
      await unused.close();
      expect(unused.requests).toStrictEqual([]);
    });

    it('leaves no request that extends', async () => {
      await rig.open();
      await rig.close();
      await rig.clock.advance(10 * WINDOW_MS);
      expect(rig.asked).toEqual(['POST 1', 'DELETE 1']);
    });
  });
});
