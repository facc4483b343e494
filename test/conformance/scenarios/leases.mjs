import { setTimeout as sleep } from 'node:timers/promises';
import { fieldsOf, PROCESSING_MS, Windows } from '../kit/windows.mjs';
import { refusal } from '../kit/scripted-server.mjs';

const isPost = ({ method }) => method === 'POST';
const isPut = ({ method }) => method === 'PUT';
const isDelete = ({ method }) => method === 'DELETE';

/** The leases of the requests, each once. */
const leasesOf = (requests) => [...new Set(requests.map(({ lease }) => lease))];

/** The worker is lost at its first extension, while a loop takes IDs. */
async function losing(t, status, code) {
  t.windows = new Windows({ lastMs: 2400 });
  let lost;
  await t.server((request) => {
    // Until the next worker is there, the old one must not go on.
    if (isPost(request) && lost !== undefined) return t.windows.answer(request, {}, { delayMs: 1000 });
    if (!isPut(request) || lost !== undefined) return t.windows.answer(request);
    lost = request;
    return t.windows.end(status, code, request.lease);
  });
  const driver = await t.startWindow({ requestTimeoutMs: 2500 });
  await t.ready(driver);
  const { runs } = await t.runSnowflake(driver, { ms: 5000 });
  const [first] = t.requests.filter(isPost);
  const workers = runs.map(([id]) => fieldsOf(id).workerId);
  const [own, next] = [17, 18];
  t.check(workers.includes(next), 'lost', `after ${status}, no ID of another worker`);
  const back = workers.indexOf(own, workers.indexOf(next) < 0 ? Infinity : workers.indexOf(next));
  t.check(back < 0, 'lost', `${runs[back]?.[0]} of worker ${own} after an ID of worker ${next}`);
  // The clocks of this host and of the client are the same.
  const end = Date.now() - performance.now() + (lost?.answeredAt ?? Infinity) + 2 * PROCESSING_MS;
  const late = runs.find(([id]) => fieldsOf(id).workerId === own && fieldsOf(id).timestamp > end);
  t.check(late === undefined, 'lost', `${late?.[0]} of worker ${own} was issued after ${status} ${code}`);
  const posts = t.requests.filter(isPost);
  t.check(posts.length > 1 && posts.at(-1).lease !== first?.lease, 'lost', `after ${status}, no POST with a new lease`);
}

export const leases = {
  'the lease is lost (409)': (t) => losing(t, 409, 'LEAF_LEASE_LOST'),
  'the lease is not found (404)': (t) => losing(t, 404, 'LEAF_LEASE_NOT_FOUND'),

  async 'the same worker again, with a clock that was set back'(t) {
    t.windows = new Windows({ lastMs: 2000 });
    let isLost = false;
    await t.server((request) => {
      if (isPost(request)) return t.windows.answer(request, { workerId: 17, from: Date.now() - 10_000 });
      if (!isPut(request) || isLost) return t.windows.answer(request);
      isLost = true;
      return t.windows.end(409, 'LEAF_LEASE_LOST', request.lease);
    });
    const driver = await t.startWindow();
    await t.ready(driver);
    while (!isLost) await t.snowflake(driver, 50);
    await driver.call('step', { ms: -3000 });
    await t.answered('lost', 'a second POST', isPost, 2);
    await sleep(PROCESSING_MS);
    const { ids, code } = await t.snowflake(driver, 50);
    t.check(ids.length === 0, 'back', `${ids[0]} was issued with a clock 3 s behind the newest ID`);
    t.check(['LEAF_CLOCK_BACKWARDS', 'LEAF_NOT_READY'].includes(code), 'back', `the refusal is ${code}`);
    await driver.call('step', { ms: 3000 });
    await t.ready(driver);
    await t.snowflake(driver, 50);
  },

  async 'the first answers are lost'(t) {
    let count = 0;
    const respond = (request) => {
      if (!isPost(request)) return t.windows.answer(request);
      const turn = count++;
      if (turn === 2) return refusal(503, 'LEAF_NOT_READY', 1);
      return t.windows.answer(request, {}, { lose: turn < 2 });
    };
    await t.server(respond);
    await t.server(respond);
    const driver = await t.startWindow({ timeoutMs: 8000 });
    await t.ready(driver);
    await t.snowflake(driver, 10);
    const posts = t.requests.filter(isPost);
    t.check(posts.length > 3, 'answers', `${posts.length} requests`);
    t.check(leasesOf(posts).length === 1, 'lease', `${leasesOf(posts).length} leases for the tries of one POST`);
  },

  async 'an extension is answered with another window of the lease'(t) {
    t.windows = new Windows({ lastMs: 2000 });
    await t.server((request) => {
      if (!isPut(request)) return t.windows.answer(request);
      // It begins after the end of this scenario, and the client has nothing to use until then.
      const from = Date.now() + 60_000;
      return t.windows.answer(request, { from, until: from + 60_000 }, { unusable: true });
    });
    const driver = await t.startWindow();
    await t.ready(driver);
    await t.runSnowflake(driver, { ms: 3500 });
    t.check(t.requests.some(isPut), 'answers', 'no PUT was sent');
  },

  async 'a restart'(t) {
    t.withoutRelease = true;
    await t.server((request) => t.windows.answer(request));
    for (let start = 0; start < 3; start++) {
      const driver = await t.startWindow();
      await t.ready(driver);
      await t.snowflake(driver, 10);
      if (start > 0) await driver.close();
      else driver.signal('SIGKILL');
      await driver.exit();
    }
    const found = leasesOf(t.requests.filter(isPost)).length;
    t.check(found === 3, 'lease', `${found} leases in 3 processes`);
    // The killed one and what it may have sent are over.
    const released = leasesOf(t.requests.filter(isDelete)).length;
    t.check(released === 2, 'release', `${released} of 2 processes that were closed released their worker`);
    t.drivers.length = 0;
  },

  async 'extensions: known and mark'(t) {
    t.windows = new Windows({ lastMs: 2200 });
    let puts = 0;
    const respond = (request) => {
      const turn = isPut(request) ? puts++ : undefined;
      return t.windows.answer(request, {}, { lose: turn === 0 || turn === 3 });
    };
    await t.server(respond);
    await t.server(respond);
    const driver = await t.startWindow();
    await t.ready(driver);
    await t.answered('extend', 'a third answer to a PUT', (each) => isPut(each) && !each.answer?.lose, 3);
    await t.snowflake(driver);
    const [a, again, b, c, once] = t.requests.filter(isPut);
    const ends = t.windows.grants.filter(({ lost }) => !lost).map(({ until }) => until);
    t.check(
      a.body.mark === again.body.mark && c?.body.mark === once?.body.mark,
      'mark',
      'another mark in a second try',
    );
    t.check(new Set([a, b, c].map((each) => each?.body.mark)).size > 1, 'mark', 'each extension has the same mark');
    for (const [put, end] of [a, again, b, c, once].map((each, index) => [each, ends[[0, 0, 1, 2, 2][index]]])) {
      t.check(put?.body.known === end, 'mark', `known is ${put?.body.known}, the newest answer ended at ${end}`);
    }
    await driver.close();
    const { body } = t.requests.findLast(isDelete) ?? {};
    t.check(body?.known === ends.at(-1), 'mark', `known of the DELETE is ${body?.known}, not ${ends.at(-1)}`);
  },

  async 'a server that does not know known and mark'(t) {
    t.windows = new Windows({ lastMs: 2400 });
    await t.server((request) => {
      if (request.body?.known !== undefined || request.body?.mark !== undefined)
        return refusal(400, 'LEAF_BODY_INVALID');
      return t.windows.answer(request);
    });
    const driver = await t.startWindow();
    await t.ready(driver);
    await t.answered('mark', 'a PUT without known', (each) => isPut(each) && each.answer?.status === 200);
    await t.snowflake(driver);
    await driver.close();
    const last = t.requests.findLast(isDelete);
    t.check(last?.answer?.status === 204, 'mark', 'the DELETE was not sent again without known');
  },

  async 'extensions are in time'(t) {
    t.windows = new Windows({ lastMs: 3000 });
    await t.server((request) => t.windows.answer(request));
    const driver = await t.startWindow();
    await t.ready(driver);
    await t.answered('extend', 'a second PUT', isPut, 2);
    await t.snowflake(driver);
    const requests = t.requests.filter((each) => !isDelete(each));
    const gaps = requests.slice(1).map((request, index) => Math.round(request.at - requests[index].answeredAt));
    const text = `${gaps.join(', ')} ms after the answer before, half of the window are 1500`;
    t.check(Math.min(...gaps) > 500, 'extend', `PUTs too early: ${text}`);
    // On a busy machine, one may be late.
    t.check(Math.min(...gaps) < 2500, 'extend', `PUTs too late: ${text}`);
  },

  async 'no worker is free'(t) {
    let isFree = false;
    await t.server((request) => (isFree ? t.windows.answer(request) : refusal(409, 'LEAF_WORKERS_USED_UP')));
    const driver = await t.startWindow();
    await t.ready(driver, 'LEAF_WORKERS_USED_UP');
    isFree = true;
    await sleep(1200);
    await t.ready(driver);
    await t.snowflake(driver, 10);
  },

  async 'no worker is free at one of two servers'(t) {
    const full = await t.server(() => refusal(409, 'LEAF_WORKERS_USED_UP'));
    const other = await t.server((request) => t.windows.answer(request));
    // The one without a worker is asked first.
    const servers = [
      { url: full.url, zone: 'near' },
      { url: other.url, zone: 'far' },
    ];
    const driver = await t.startWindow({ servers, zone: 'near' });
    await t.ready(driver);
    await t.snowflake(driver, 10);
    const posts = t.requests.filter(isPost);
    t.check(full.requests.length > 0, 'zone', 'the server of the own zone was not asked');
    t.check(leasesOf(posts).length === 1, 'lease', `${leasesOf(posts).length} leases for one worker`);
  },

  async 'an answer for another lease'(t) {
    let isFirst = true;
    await t.server((request) => {
      const change = isFirst && isPost(request) ? { lease: '0'.repeat(32), workerId: 99 } : {};
      isFirst = false;
      return t.windows.answer(request, change, { unusable: change.lease !== undefined });
    });
    const driver = await t.startWindow();
    await t.ready(driver);
    await t.snowflake(driver, 10);
  },

  async 'the layout changes'(t) {
    t.withoutRelease = true;
    t.windows = new Windows({ lastMs: 2200 });
    const layout = { epoch: 1288834974657, timeBits: 41, workerBits: 9, sequenceBits: 13 };
    await t.server((request) =>
      t.windows.answer(request, isPut(request) ? { layout } : {}, { unusable: isPut(request) }),
    );
    const driver = await t.startWindow();
    await t.ready(driver);
    await t.snowflake(driver, 10);
    await t.answered('extend', 'a PUT', isPut);
    await sleep(PROCESSING_MS);
    const { ids, code } = await t.snowflake(driver, 10);
    t.check(ids.length === 0 && code === 'LEAF_LAYOUT_MISMATCH', 'layout', `${ids.length} IDs, and ${code}`);
    await sleep(1500);
    const later = await t.snowflake(driver);
    t.check(later.code === 'LEAF_LAYOUT_MISMATCH', 'layout', `later: ${later.code}`);
    t.check(t.requests.filter(isPost).length === 1, 'layout', 'it acquired another worker');
  },

  async 'another layout than that of the options'(t) {
    t.withoutRelease = true;
    await t.server((request) => t.windows.answer(request, {}, { unusable: true }));
    const layout = { epoch: 1600000000000, timeBits: 41, workerBits: 9, sequenceBits: 13 };
    const driver = await t.startWindow({ layout });
    await t.ready(driver, 'LEAF_LAYOUT_MISMATCH');
    const { code } = await t.snowflake(driver);
    t.check(code === 'LEAF_LAYOUT_MISMATCH', 'layout', `the refusal is ${code}`);
  },

  async 'close without an ID, and a DELETE whose answer is lost'(t) {
    let deletes = 0;
    await t.server((request) => t.windows.answer(request, {}, { lose: isDelete(request) && deletes++ === 0 }));
    const driver = await t.startWindow();
    await t.ready(driver);
    const code = await driver.close();
    t.check(code === 0, 'close', `the process ended with ${code}`);
    t.check(deletes > 1, 'release', 'the DELETE was not sent again');
  },

  async 'SIGTERM with a worker'(t) {
    await t.server((request) => t.windows.answer(request));
    const driver = await t.startWindow();
    await t.ready(driver);
    await t.snowflake(driver, 10);
    driver.signal('SIGTERM');
    const code = await driver.exit();
    t.check(code === 0, 'close', `the process ended with ${code} after SIGTERM`);
  },
};
