import { LeafError } from '@leaf-ids/core';
import { defaultLayout, MARKS } from '@leaf-ids/core/internal';
import { coded, HALF, LOST, WINDOW_MS, WindowRig } from '../../../../test/support/fakes/window-rig';

const REFUSED = new LeafError('LEAF_FORBIDDEN', 'This token may not hold workers.');

const layout = defaultLayout();

describe('KeptWindow', () => {
  let rig: WindowRig;
  beforeEach(() => (rig = new WindowRig()));
  afterEach(() => rig.end());

  const countOf = (method: string): number => rig.requests.filter((request) => request.method === method).length;

  it.each<[string, object]>([
    ['without a worker', { workerId: undefined }],
    ['with a worker below zero', { workerId: -1 }],
    ['with a worker ID that is not a number', { workerId: '17' }],
    ['with a worker that does not fit its layout', { workerId: layout.maxWorkerId + 1 }],
    ['without a beginning', { from: undefined }],
    ['with a fractional beginning', { from: 0.5 }],
    ['without an end', { until: undefined }],
    ['without a time', { now: undefined }],
    ['without a lease', { lease: undefined }],
    ['without a layout', { layout: {} }],
  ])('takes no window %s', async (_, fields) => {
    rig.answer = (request) => ({ ...rig.sound(request), ...fields });
    await rig.open();
    expect(() => rig.ids.next()).toThrow(coded('LEAF_INTERNAL'));
    expect(rig.ids.view()).toMatchObject({ workerId: undefined, from: -1, until: -1, issued: 0 });
  });

  it.each([0, layout.maxWorkerId])('takes a window of worker %d', async (workerId) => {
    rig.workerId = workerId;
    await rig.open();
    expect(rig.issued().workerId).toBe(workerId);
  });

  it('takes a window that begins with the time', async () => {
    rig.from = 0;
    await rig.open();
    expect(rig.ids.view().from).toBe(0);
  });

  it('knows no window before the first answer, and tells when it asks', async () => {
    expect(rig.ids.view()).toMatchObject({ from: -1, until: -1 });
    expect(rig.ids.snapshot()).toMatchObject({ loading: false, loads: 0 });
    await rig.clock.advance(1000);
    rig.failure = WindowRig.outage();
    await rig.open();
    expect(rig.ids.snapshot()).toMatchObject({ loading: true, loads: 0, failures: 1 });
    rig.failure = undefined;
    await rig.clock.advance(100);
    expect(rig.ids.snapshot()).toMatchObject({ loading: false, loads: 1, lastError: undefined, buffered: 0, size: 0 });
    expect(rig.ids.snapshot().lastLoadMs).toBeLessThan(100);
    rig.refuse('PUT', WindowRig.outage());
    await rig.clock.advance(HALF);
    expect(rig.ids.snapshot()).toMatchObject({ loading: true, loads: 1 });
    rig.ids.close(new LeafError('LEAF_NOT_READY', 'closed'));
    expect(rig.ids.snapshot().loading).toBe(false);
  });

  it('extends no earlier for the IDs that it issues', async () => {
    await rig.open();
    await rig.clock.advance(HALF - 1);
    rig.issued();
    await rig.ids.take(1);
    await rig.clock.advance(0);
    expect(rig.asked).toEqual(['POST 1']);
  });

  it.each([-20_000, 20_000])(
    'extends when half of the window has passed, with a clock that is off by %d ms',
    async (off) => {
      rig.answer = (request) => {
        const now = rig.clock.now() - off;
        return { ...rig.sound(request), now, until: now + WINDOW_MS };
      };
      await rig.open();
      const left = off < 0 ? WINDOW_MS : WINDOW_MS - off;
      await rig.clock.advance(left / 2 - 1);
      expect(rig.asked).toEqual(['POST 1']);
      await rig.clock.advance(1);
      expect(rig.asked).toEqual(['POST 1', 'PUT 1']);
    },
  );

  it('extends not before a tenth of the window has passed, whatever its clock says', async () => {
    await rig.open();
    rig.clock.step(2 * WINDOW_MS);
    const early = expect(rig.ids.take(1)).rejects.toEqual(coded('LEAF_LEASE_EXPIRED'));
    await rig.clock.advance(WINDOW_MS / 10 - 1);
    await early;
    expect(rig.ids.tryNext()).toBeUndefined();
    expect(rig.asked).toEqual(['POST 1']);
    await rig.clock.advance(1);
    const ids = rig.ids.take(1);
    await rig.clock.advance(10);
    expect(await ids).toHaveLength(1);
    expect(rig.asked).toEqual(['POST 1', 'PUT 1']);
  });

  it('waits longer after each lease that it loses, up to a second', async () => {
    rig.refuse('POST', LOST);
    await rig.open();
    await rig.clock.advance(20_000);
    const times = rig.requests.map(({ at }) => at);
    const waits = times.slice(1).map((at, n) => at - times[n]!);
    expect(waits.slice(0, 5)).toEqual(waits.slice(0, 5).sort((a, b) => a - b));
    expect(waits[4]!).toBeGreaterThan(4 * waits[0]!);
    expect(new Set(waits.slice(10))).toEqual(new Set([Math.max(...waits)]));
    expect(Math.max(...waits)).toBeLessThanOrEqual(1000);
    expect(new Set(rig.asked).size).toBe(rig.asked.length);
    expect(rig.log.filter((line) => line.startsWith('lost'))).toStrictEqual([]);
    expect(() => rig.ids.next()).toThrow(expect.objectContaining({ code: 'LEAF_NOT_READY', retryAfterMs: 1000 }));
  });

  it('says which worker it has lost, and when to retry', async () => {
    await rig.open();
    rig.refuse('PUT', LOST);
    await rig.clock.advance(HALF);
    const refusal = { code: 'LEAF_NOT_READY', retryAfterMs: 1000, cause: LOST };
    expect(() => rig.ids.next()).toThrow(expect.objectContaining(refusal));
    expect(() => rig.ids.next()).toThrow('no longer holds worker 17');
  });

  it('keeps the reason of a refusal that may pass until it asks again', async () => {
    rig.refuse('POST', REFUSED);
    await rig.open();
    expect(() => rig.ids.next()).toThrow(REFUSED);
    await rig.clock.advance(1000);
    rig.answer = (request) => rig.sound(request);
    expect(() => rig.ids.next()).toThrow(coded('LEAF_NOT_READY'));
    await rig.clock.advance(0);
    expect(rig.issued().workerId).toBe(17);
  });

  it('extends without a mark after a server has refused it, and then with one', async () => {
    await rig.open();
    rig.answer = (request) => {
      if ('known' in request.body) throw new LeafError('LEAF_BODY_INVALID', '"known" is an unknown property.');
      return rig.sound(request);
    };
    await rig.clock.advance(HALF);
    expect(rig.requests.slice(1).map(({ body }) => Object.keys(body))).toEqual([
      ['windowMs', 'workerId', 'known', 'mark'],
      ['windowMs', 'workerId'],
    ]);
    rig.answer = (request) => rig.sound(request);
    await rig.clock.advance(HALF);
    expect(rig.requests.at(-1)?.body).toMatchObject({ mark: expect.any(Number) });
  });

  it('sends a request that is refused with its progress once without it, and no more', async () => {
    await rig.open();
    rig.refuse('PUT', new LeafError('LEAF_BODY_INVALID', 'It is too long.'));
    await rig.clock.advance(HALF);
    expect(rig.asked).toEqual(['POST 1', 'PUT 1', 'PUT 1']);
    await rig.clock.advance(50);
    expect(countOf('PUT')).toBe(3);
    expect(rig.requests.at(-1)?.body).toEqual({ windowMs: WINDOW_MS, workerId: 17 });
  });

  it('marks an extension with a number below 1000, whatever it draws', async () => {
    rig = new WindowRig(undefined, (range) => range - 1);
    await rig.open();
    await rig.clock.advance(HALF + 0.3);
    await rig.clock.advance(HALF);
    const marks = rig.requests.slice(1).map(({ body }) => body.mark);
    for (const mark of marks) {
      expect(Number.isInteger(mark)).toBe(true);
      expect(mark).toBeGreaterThanOrEqual(0);
      expect(mark).toBeLessThan(MARKS);
    }
  });

  describe('when it closes', () => {
    it('releases at once, and says only that it is closed', async () => {
      rig.failure = WindowRig.outage();
      await rig.open();
      const closedAt = rig.clock.now();
      rig.failure = undefined;
      await rig.close();
      expect(rig.requests.map(({ method, at }) => [method, at - closedAt])).toEqual([
        ['POST', 0],
        ['DELETE', 0],
      ]);
      expect(() => rig.ids.next()).toThrow('closed');
    });

    it('releases at once under an answer that arrives after that', async () => {
      rig.ids.tryNext();
      const closedAt = rig.clock.now();
      await rig.close();
      expect(rig.requests.at(-1)).toMatchObject({ method: 'DELETE', at: closedAt });
      expect(rig.ids.view().workerId).toBeUndefined();
    });

    it('repeats a release up to the limit of a call, and not after it', async () => {
      await rig.open();
      const closedAt = rig.clock.now();
      rig.failure = WindowRig.outage();
      await rig.close();
      const count = countOf('DELETE');
      expect(count).toBeGreaterThan(2);
      expect(rig.requests.at(-1)!.at).toBeLessThan(closedAt + 1000);
      expect(rig.clock.sleeping).toBe(0);
      await rig.clock.advance(WINDOW_MS);
      expect(countOf('DELETE')).toBe(count);
    });

    it('repeats no release that was refused for good, and reports it', async () => {
      await rig.open();
      rig.failure = REFUSED;
      await rig.close();
      expect(countOf('DELETE')).toBe(1);
      expect(rig.log).toEqual(['acquired 17', `failed: ${String(REFUSED)}`]);
    });

    it('reports nothing if it has no lease', async () => {
      await rig.close();
      expect([rig.requests, rig.log]).toEqual([[], []]);
    });

    it('releases with the time before the window though it has issued later IDs under another lease', async () => {
      await rig.open();
      await rig.clock.advance(HALF - 1);
      rig.issued();
      rig.refuse('PUT', new LeafError('LEAF_LEASE_NOT_FOUND', 'It was released.'));
      await rig.clock.advance(1 + 20);
      await rig.close();
      expect(rig.requests.at(-1)).toMatchObject({ method: 'DELETE', body: { lastTimestamp: rig.from - 1 } });
    });
  });
});
