import { setTimeout as sleep } from 'node:timers/promises';
import { proxyRefusal, refusal } from '../kit/scripted-server.mjs';

/** Every request is for as many IDs, also while calls wait. */
const FIXED = { segment: { minSize: 100, maxSize: 100 } };
const MEMORY = 32;

export const segments = {
  async 'answers that are lost'(t) {
    let count = 0;
    await t.server((request) => t.ranges.answer(request, { lose: count++ % 2 === 0 }));
    const driver = await t.start();
    for (let call = 0; call < 10; call++) await t.next(driver, 'order', 50);
    await t.next(driver, 'order');
  },

  async 'answers that are late'(t) {
    let count = 0;
    const late = { delayMs: 900, forbidden: 'delivered' };
    await t.server((request) => t.ranges.answer(request, count++ % 3 === 0 ? late : {}));
    const driver = await t.start({ ...FIXED, requestTimeoutMs: 300 });
    for (let call = 0; call < 10; call++) await t.next(driver, 'order', 80);
  },

  async 'answers that a cache repeats'(t) {
    t.duplicates = 'repeated';
    const fresh = [];
    let count = 0;
    await t.server((request) => {
      const turn = count++ % 4;
      // The oldest one that a client has to remember is the last but 31: those that overlap count as one.
      const known = turn === 1 ? fresh.at(-1) : (fresh.at(1 - MEMORY) ?? fresh[0]);
      if (turn % 2 === 0 || known === undefined) {
        const answer = t.ranges.answer(request);
        fresh.push(answer.grant.ranges[0]);
        return answer;
      }
      const shift = turn === 1 ? 0n : BigInt(request.size) - 1n;
      const again = { from: known.from + shift, to: known.to + shift };
      // Without a nonce, or with the right one, as of servers that do not share one database.
      return t.ranges.answerWith(request, [again], { ...(turn === 1 && { nonce: null }), forbidden: 'repeated' });
    });
    const driver = await t.start(FIXED);
    for (let call = 0; call < 50; call++) await t.next(driver, 'order', 100);
  },

  async 'answers with the nonce of another request'(t) {
    let count = 0;
    await t.server((request) =>
      t.ranges.answer(request, count++ % 2 === 0 ? { nonce: 'another-request', forbidden: 'nonce' } : {}),
    );
    const driver = await t.start(FIXED);
    for (let call = 0; call < 10; call++) await t.next(driver, 'order', 100);
  },

  async 'answers without a nonce, of an older server'(t) {
    await t.server((request) => t.ranges.answer(request, { nonce: null }));
    await t.next(await t.start(), 'order', 10);
  },

  async 'answers that are not valid'(t) {
    const wrong = Object.values(INVALID);
    let count = 0;
    await t.server((request) => {
      const answer = t.ranges.answer(request, count % 2 === 0 ? { forbidden: 'invalid' } : {});
      return count++ % 2 === 0 ? wrong[(count >> 1) % wrong.length](answer, t) : answer;
    });
    const driver = await t.start(FIXED);
    for (let call = 0; call < 2 * wrong.length; call++) await t.next(driver, 'order', 100);
  },

  async 'an answer with several ranges'(t) {
    await t.server((request) => {
      const ranges = [1, 2, request.size - 3].map((size) => {
        t.ranges.take(request.tag, 5);
        return t.ranges.take(request.tag, size);
      });
      return t.ranges.answerWith(request, ranges);
    });
    const driver = await t.start(FIXED);
    for (let call = 0; call < 30; call++) await t.next(driver, 'order', call + 1);
  },

  async 'IDs of a tag that does not exist'(t) {
    const codes = [
      [404, 'LEAF_TAG_NOT_FOUND'],
      [409, 'LEAF_TAG_PERIODIC'],
      [403, 'LEAF_FORBIDDEN'],
    ];
    const respond = (request) => {
      const found = codes.find(([, code]) => code === request.tag);
      return refusal(...found);
    };
    await t.server(respond);
    await t.server(respond);
    const driver = await t.start();
    const count = (tag) => t.requests.filter((request) => request.tag === tag).length;
    await Promise.all(
      codes.map(async ([, tag]) => {
        const began = performance.now();
        for (let call = 0; call < 5; call++) await t.next(driver, tag, 1, tag);
        if (performance.now() - began < 900) t.check(count(tag) === 1, 'refused', `${count(tag)} requests for ${tag}`);
        await sleep(1200);
        await t.next(driver, tag, 1, tag);
        t.check(count(tag) > 1, 'refused', `no other request for ${tag} after a second`);
      }),
    );
  },

  async 'a tag that is created after a refusal'(t) {
    let isCreated = false;
    await t.server((request) => (isCreated ? t.ranges.answer(request) : refusal(404, 'LEAF_TAG_NOT_FOUND')));
    const driver = await t.start();
    await t.next(driver, 'order', 1, 'LEAF_TAG_NOT_FOUND');
    isCreated = true;
    await sleep(1200);
    await t.next(driver, 'order', 1);
  },

  async 'a server that refuses one tag for a time'(t) {
    await restingServer(t, refusal(503, 'LEAF_TAG_PAUSED', 2), (requests, resting) => {
      const early = requests.filter(({ tag, at }) => tag === 'order' && at < resting.answeredAt + 1800);
      t.check(early.length === 0, 'rest', `${early.length} requests for the tag during the time of Retry-After`);
      const others = requests.filter(({ tag }) => tag !== 'order');
      t.check(others.length > 0, 'rest', 'no request for another tag');
    });
  },

  async 'a proxy that refuses for a time'(t) {
    await restingServer(t, proxyRefusal(503, 2), (requests, resting) => {
      const early = requests.filter(({ at }) => at < resting.answeredAt + 1800);
      t.check(early.length === 0, 'proxy', `${early.length} requests during the time of Retry-After`);
    });
  },

  async 'a refusal of all servers'(t) {
    await t.server(() => refusal(503, 'LEAF_SEGMENT_UNAVAILABLE', 1));
    await t.server(() => refusal(503, 'LEAF_SEGMENT_UNAVAILABLE', 1));
    await t.next(await t.start({ timeoutMs: 3000 }), 'order', 1, 'LEAF_SEGMENT_UNAVAILABLE');
  },

  async 'servers of two zones'(t) {
    let isDown = false;
    const far = await t.server((request) => t.ranges.answer(request));
    const near = await t.server((request) => (isDown ? { lose: true } : t.ranges.answer(request)));
    const servers = [
      { url: far.url, zone: 'b' },
      { url: near.url, zone: 'a' },
    ];
    const driver = await t.start({ servers, zone: 'a', ...FIXED });
    for (let tag = 0; tag < 8; tag++) await t.next(driver, `order${tag}`, 100);
    t.check(far.requests.length === 0, 'zone', `${far.requests.length} requests to the other zone`);
    isDown = true;
    for (let tag = 0; tag < 8; tag++) await t.next(driver, `order${tag}`, 200);
  },

  async 'a server that does not answer'(t) {
    await t.server(() => new Promise(() => {}));
    const driver = await t.start({ timeoutMs: 1000, requestTimeoutMs: 400 });
    const { sentAt, answeredAt } = await t.next(driver, 'order', 1, 'LEAF_SERVERS_UNAVAILABLE');
    const ms = Math.round(answeredAt - sentAt);
    t.check(ms >= 950 && ms <= 2200, 'deadline', `the call took ${ms} ms, timeoutMs is 1000`);
  },

  async 'more calls than may wait'(t) {
    await t.server(() => new Promise(() => {}));
    const driver = await t.start({ timeoutMs: 1500, maxWaiting: 5 });
    const calls = Array.from({ length: 8 }, () => t.next(driver, 'order', 1, 'any'));
    const answers = await Promise.all(calls);
    const refused = answers.filter(({ code }) => code === 'LEAF_OVERLOADED');
    t.check(refused.length === 3, 'overloaded', `${refused.length} of 8 calls were refused, maxWaiting is 5`);
    const slowest = Math.max(...refused.map(({ sentAt, answeredAt }) => answeredAt - sentAt));
    t.check(slowest < 1200, 'overloaded', `a call was refused after ${Math.round(slowest)} ms`);
  },

  async 'an outage while IDs are in memory'(t) {
    let isDown = false;
    const server = await t.server((request) => (isDown ? { lose: true } : t.ranges.answer(request)));
    const driver = await t.start({ ...FIXED, timeoutMs: 1000 });
    await t.next(driver, 'order', 11);
    await t.answered('prefetch', 'a second request', () => true, 2, 3000);
    isDown = true;
    await t.next(driver, 'order', 100);
    await t.next(driver, 'order', 89);
    await t.until('prefetch', 'a third request', () => server.requests.length > 2, 3000);
    await t.next(driver, 'order', 1, 'LEAF_SERVERS_UNAVAILABLE');
  },

  async 'the sizes of requests'(t) {
    const server = await t.server((request) => t.ranges.answer(request));
    const driver = await t.start({ segment: { minSize: 100, maxSize: 400, durationMs: 10_000 } });
    for (let call = 0; call < 60; call++) await t.next(driver, 'order', 25);
    const sizes = server.requests.slice(0, 6).map(({ size }) => size);
    t.check(String(sizes) === '100,100,200,400,400,400', 'size', `the sizes are ${String(sizes)}`);
  },

  async 'calls of several threads'(t) {
    await t.server((request) => t.ranges.answer(request));
    const driver = await t.start();
    const words = { ms: 1500, limit: 20_000 };
    const runs = await Promise.all(
      Array.from({ length: 4 }, (_, index) => t.runSegment(driver, index < 3 ? 'order' : 'other', words)),
    );
    t.check(
      runs.every(({ count }) => count > 0),
      'answers',
      'a loop got no ID',
    );
  },

  async 'close while a call waits'(t) {
    await t.server(() => new Promise(() => {}));
    const driver = await t.start({ requestTimeoutMs: 5000 });
    const waiting = t.next(driver, 'order', 1, 'LEAF_NOT_READY');
    await t.until('answers', 'a request', () => t.requests.length > 0);
    const code = await driver.close();
    t.check(code === 0, 'close', `the process ended with ${code}`);
    await waiting;
  },

  async 'SIGTERM, and the end of the standard input'(t) {
    await t.server((request) => t.ranges.answer(request));
    const drivers = [await t.start(), await t.start()];
    await Promise.all(drivers.map((driver) => t.next(driver, 'order', 1)));
    drivers[0].signal('SIGTERM');
    drivers[1].child.stdin.end();
    const codes = await Promise.all(drivers.map((driver) => driver.exit()));
    t.check(String(codes) === '0,0', 'close', `the processes ended with ${String(codes)}`);
  },
};

/** One server, the first to be asked, refuses once; another one serves. `look` gets its later requests. */
async function restingServer(t, answer, look) {
  let resting;
  const respond = (request) => {
    if (resting !== undefined) return t.ranges.answer(request);
    resting = request;
    return answer;
  };
  const servers = [await t.server(respond), await t.server(respond)];
  const driver = await t.start(FIXED);
  await t.next(driver, 'order', 1);
  const refusing = servers.find(({ requests }) => requests.includes(resting));
  for (const end = performance.now() + 1500; performance.now() < end; await sleep(50)) {
    await t.next(driver, 'order', 50);
    for (let tag = 0; tag < 16; tag++) await t.next(driver, `tag${tag}`, 1);
  }
  look(refusing.requests.slice(refusing.requests.indexOf(resting) + 1), resting);
}

const range = (answer) => answer.json.ranges[0];

/** Each makes an answer invalid. */
const INVALID = {
  otherTag: (answer) => ({ ...answer, json: { ...answer.json, tag: 'another' } }),
  tooFew: (answer) => ({
    ...answer,
    json: { ...answer.json, ranges: [{ ...range(answer), to: plus(range(answer).to, -1n) }] },
  }),
  tooMany: (answer, t) => {
    answer.grant.ranges.push(t.ranges.take('order', 1));
    return { ...answer, json: { ...answer.json, ranges: [{ ...range(answer), to: plus(range(answer).to, 1n) }] } };
  },
  descending: (answer) => {
    const { from, to } = range(answer);
    const ranges = [
      { from: plus(from, 1n), to },
      { from, to: from },
    ];
    return { ...answer, json: { ...answer.json, ranges } };
  },
  backwards: (answer) => {
    const { from, to } = range(answer);
    return { ...answer, json: { ...answer.json, ranges: [{ from: to, to: from }] } };
  },
  zero: (answer) => ({ ...answer, json: { ...answer.json, ranges: [{ from: '0', to: '99' }] } }),
  tooLarge: (answer) => {
    const ranges = [{ from: '9223372036854775800', to: '9223372036854775899' }];
    return { ...answer, json: { ...answer.json, ranges } };
  },
  noRanges: (answer) => ({ ...answer, json: { tag: answer.json.tag } }),
  noJson: (answer) => ({ ...answer, text: JSON.stringify(answer.json).slice(0, -1) }),
  redirect: (answer) => ({ ...answer, status: 302, headers: { location: answer.grant.request.path } }),
  created: (answer) => ({ ...answer, status: 500 }),
  huge: (answer) => ({ ...answer, text: JSON.stringify(answer.json) + ' '.repeat(1_100_000) }),
};

function plus(text, n) {
  return String(BigInt(text) + n);
}
