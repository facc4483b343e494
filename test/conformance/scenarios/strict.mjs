import { setTimeout as sleep } from 'node:timers/promises';
import { refusal } from '../kit/scripted-server.mjs';

const TAG = 'ledger';
const SINGLE = { segment: { minSize: 100, maxSize: 100 } };

/** The first request may be a prefetch: its IDs are nobody's. Later ones are answered by `respond`. */
async function strictServer(t, respond) {
  let isFirst = true;
  return t.server((request) => {
    if (!isFirst) return respond(request);
    isFirst = false;
    return t.ranges.answer(request, { order: 'strict', forbidden: 'strict-drop' });
  });
}

/** No call is served by a request that was sent before it, and calls one after the other ascend. */
function checkCalls(t) {
  for (const { id, call, grant } of t.ranges.issued(TAG)) {
    if (grant === undefined) continue;
    const isLater = grant.request.at >= call.sentAt;
    t.check(
      isLater,
      'strict-late',
      `${id} is of a request that was sent ${Math.round(call.sentAt - grant.request.at)} ms before the call`,
    );
  }
  const calls = t.ranges.calls.filter(({ name, runs }) => name === TAG && runs.length > 0);
  const highest = (runs) =>
    runs.reduce((most, [first, count]) => (first + count > most ? first + count : most), 0n) - 1n;
  for (const call of calls) {
    const before = calls.find((other) => other.answeredAt < call.sentAt && highest(other.runs) >= call.runs[0][0]);
    t.check(
      before === undefined,
      'strict-order',
      `${call.runs[0][0]} was issued after ${before && highest(before.runs)}`,
    );
  }
}

/** As many IDs were given as calls got, after the first request. */
function checkSizes(t) {
  const given = t.ranges.grants.filter(({ name, forbidden, at }) => name === TAG && !forbidden && at !== undefined);
  const size = given.reduce((sum, { request }) => sum + request.size, 0);
  const issued = [...t.ranges.issued(TAG)].length;
  t.check(size === issued, 'strict-size', `requests for ${size} IDs, calls for ${issued}`);
}

export const strict = {
  async 'a strict tag: requests are for the calls that wait'(t) {
    const server = await strictServer(t, async (request) => {
      await sleep(200);
      return t.ranges.answer(request, { order: 'strict' });
    });
    const driver = await t.start(SINGLE);
    await t.next(driver, TAG, 1);
    for (let round = 0; round < 3; round++) {
      const calls = [t.next(driver, TAG, 1)];
      await sleep(50);
      for (let call = 0; call < 5; call++) calls.push(t.next(driver, TAG, call === 4 ? 3 : undefined));
      await Promise.all(calls);
    }
    const before = server.requests.length;
    await sleep(500);
    t.check(server.requests.length === before, 'strict-size', 'a request was sent while no call waited');
    checkSizes(t);
    checkCalls(t);
  },

  async 'a strict tag: an answer after the call has ended'(t) {
    let slow = false;
    await strictServer(t, async (request) => {
      if (slow) {
        slow = false;
        await sleep(3000);
      }
      return t.ranges.answer(request, { order: 'strict' });
    });
    const driver = await t.start({ ...SINGLE, timeoutMs: 2000, requestTimeoutMs: 6000 });
    await t.next(driver, TAG, 1);
    slow = true;
    const first = t.next(driver, TAG, 1, 'any');
    await sleep(1900);
    await Promise.all([first, t.next(driver, TAG, 1, 'any')]);
    // Until it has come, if nobody waits for it any more.
    await sleep(1500);
    for (let call = 0; call < 5; call++) await t.next(driver, TAG, 2);
    checkCalls(t);
  },

  async 'a strict tag: answers below the highest ID'(t) {
    let count = 0;
    t.duplicates = 'strict-order';
    t.ranges.next.set(TAG, 10_000n);
    await strictServer(t, (request) => {
      const turn = count++;
      if (turn % 3 !== 1) return t.ranges.answer(request, { order: 'strict' });
      const from = turn % 2 === 0 ? t.highest : 1000n + BigInt(turn) * 10n;
      const range = { from, to: from + BigInt(request.size) - 1n };
      return t.ranges.answerWith(request, [range], { order: 'strict', forbidden: 'strict-order' });
    });
    const driver = await t.start(SINGLE);
    for (let call = 0; call < 12; call++) {
      const { ids } = await t.next(driver, TAG, 2);
      // Repeated later, as by a cache or a database that was set back.
      t.highest = BigInt(ids?.[0] ?? 10_000);
    }
    checkCalls(t);
  },

  async 'a strict tag: answers that are lost'(t) {
    let count = 0;
    await strictServer(t, (request) => t.ranges.answer(request, { order: 'strict', lose: count++ % 2 === 0 }));
    const driver = await t.start(SINGLE);
    for (let call = 0; call < 4; call++) await t.next(driver, TAG, 3);
    checkSizes(t);
    checkCalls(t);
  },

  async 'a strict tag that is used up'(t) {
    let left = 3;
    const server = await strictServer(t, (request) => {
      if (request.size > left) return refusal(503, 'LEAF_TAG_EXHAUSTED', 1);
      left -= request.size;
      return t.ranges.answer(request, { order: 'strict' });
    });
    const sizes = () => server.requests.slice(1).map(({ size }) => size);
    const driver = await t.start(SINGLE);
    await t.next(driver, TAG, 1);
    for (let call = 0; call < 5; call++) await t.next(driver, TAG, 5, 'LEAF_TAG_EXHAUSTED');
    const { sentAt, answeredAt } = await t.next(driver, TAG, 2);
    t.check(answeredAt - sentAt < 700, 'strict-exhausted', 'a call for fewer IDs was not served at once');
    t.check(sizes().join() === '1,5,2', 'strict-exhausted', `requests for ${sizes().join(', ')} IDs`);
    const before = sizes().length;
    const { refused = {} } = await t.runSegment(driver, TAG, { ms: 1000 });
    const calls = refused.LEAF_TAG_EXHAUSTED ?? 0;
    t.check(calls > 20, 'answers', `${calls} calls were refused: ${JSON.stringify(refused)}`);
    const asked = sizes().length - before;
    t.check(asked >= 1 && asked <= 3, 'strict-exhausted', `${asked} requests for ${calls} calls in a second`);
    left = 100;
    await sleep(1100);
    await t.next(driver, TAG, 5);
    checkSizes(t);
    checkCalls(t);
  },

  async 'a strict tag: calls of several threads'(t) {
    await strictServer(t, (request) => t.ranges.answer(request, { order: 'strict' }));
    const driver = await t.start(SINGLE);
    await t.next(driver, TAG, 1);
    await Promise.all([1, 2, 3, 4].map(() => t.runSegment(driver, TAG, { ms: 500 })));
    checkSizes(t);
  },
};
