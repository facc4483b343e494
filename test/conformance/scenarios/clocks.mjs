import { setTimeout as sleep } from 'node:timers/promises';
import { PROCESSING_MS, Windows } from '../kit/windows.mjs';

const isPost = ({ method }) => method === 'POST';
const isPut = ({ method }) => method === 'PUT';
const HOUR_MS = 3_600_000;
/** Far beyond every window of these scenarios, in milliseconds. */
const FAR_MS = 40_000;
const PER_MILLISECOND = 4096;

/** A process with a window of `lastMs` from now on. */
async function held(t, lastMs) {
  t.windows = new Windows({ lastMs });
  await t.server((request) => t.windows.answer(request));
  const driver = await t.startWindow();
  await t.ready(driver);
  return driver;
}

async function refused(t, driver, rule, codes, count = 10) {
  const { ids, code } = await t.snowflake(driver, count);
  t.check(ids.length === 0, rule, `${ids[0]} was issued`);
  t.check(codes.includes(code), rule, `the refusal is ${code}, not ${codes.join(' or ')}`);
}

async function issued(t, driver, count = 100) {
  const { ids, code } = await t.snowflake(driver, count);
  t.check(ids.length > 0, 'answers', `no snowflake ID: ${code}`);
}

/** The servers' clock is ahead. Their times are right for each other. */
async function shifted(t, offsetMs, lastMs) {
  t.windows = new Windows({ lastMs, offsetMs });
  await t.server((request) => t.windows.answer(request));
  return t.startWindow({ timeoutMs: 1500 });
}

export const clocks = {
  async 'the end of the window'(t) {
    t.windows = new Windows({ lastMs: 1500 });
    let end = Infinity;
    await t.server((request) => {
      if (isPut(request) && Date.now() < end + 700) return { lose: true };
      const answer = t.windows.answer(request, isPut(request) ? { until: Date.now() + 4000 } : {});
      if (isPost(request)) end = answer.json.until;
      return answer;
    });
    const driver = await t.startWindow();
    await t.ready(driver);
    const { refused: codes = {} } = await t.runSnowflake(driver, { ms: 2000 });
    t.check(codes.LEAF_LEASE_EXPIRED > 0, 'window', `refused after the window: ${JSON.stringify(codes)}`);
    t.check(t.requests.filter(isPut).length > 1, 'extend', 'a PUT that failed was not tried again');
    await t.answered('extend', 'a PUT with an answer', (each) => isPut(each) && !each.answer?.lose);
    await t.ready(driver);
    await issued(t, driver);
  },

  async 'a window that begins later'(t) {
    let from = 0;
    await t.server((request) => {
      if (isPost(request)) from = Date.now() + 1200;
      return t.windows.answer(request, isPost(request) ? { from, until: from + 4000 } : { until: from + 8000 });
    });
    const driver = await t.startWindow();
    const ready = t.ready(driver);
    await t.answered('answers', 'a POST', isPost);
    await sleep(300);
    await refused(t, driver, 'window', ['LEAF_NOT_READY']);
    await ready;
    t.check(Date.now() >= from, 'window', `ready ${from - Date.now()} ms before the window`);
    await issued(t, driver);
  },

  async 'a window that shrinks'(t) {
    t.windows = new Windows({ lastMs: 5000 });
    let puts = 0;
    await t.server((request) => {
      if (!isPut(request)) return t.windows.answer(request);
      return puts++ === 0 ? t.windows.answer(request, { until: Date.now() + 150 }) : { lose: true };
    });
    const driver = await t.startWindow();
    await t.ready(driver);
    await issued(t, driver);
    await t.answered('extend', 'a PUT', isPut);
    // The window before would last for another second and more.
    await sleep(1500);
    await refused(t, driver, 'window', ['LEAF_LEASE_EXPIRED'], 100);
  },

  async 'answers that arrive after the time limit of their request'(t) {
    t.windows = new Windows({ lastMs: 2000 });
    let puts = 0;
    await t.server((request) => {
      if (!isPut(request)) return t.windows.answer(request);
      if (puts++ > 0) return { lose: true };
      return t.windows.answer(request, { until: Date.now() + FAR_MS }, { delayMs: 700, unusable: true });
    });
    const driver = await t.startWindow({ requestTimeoutMs: 300 });
    await t.ready(driver);
    await t.runSnowflake(driver, { ms: 1900 });
    await sleep(600);
    await refused(t, driver, 'window', ['LEAF_LEASE_EXPIRED'], 100);
  },

  async 'servers whose clock is an hour ahead'(t) {
    const driver = await shifted(t, HOUR_MS, 4000);
    await t.ready(driver, 'LEAF_NOT_READY');
    await refused(t, driver, 'window', ['LEAF_NOT_READY']);
  },

  async 'servers whose clock is an hour behind'(t) {
    const driver = await shifted(t, -HOUR_MS, 4000);
    await t.ready(driver, 'LEAF_LEASE_EXPIRED');
    await refused(t, driver, 'window', ['LEAF_LEASE_EXPIRED']);
  },

  async 'servers whose clock is a little ahead'(t) {
    const driver = await shifted(t, 300, 2500);
    await t.ready(driver);
    await t.runSnowflake(driver, { ms: 1800 });
  },

  async 'servers whose clock is a little behind'(t) {
    const driver = await shifted(t, -1500, 5000);
    await t.ready(driver);
    await t.runSnowflake(driver, { ms: 1000 });
    await issued(t, driver);
  },

  async 'a clock that is set back and forward'(t) {
    const driver = await held(t, 20_000);
    await issued(t, driver);
    await driver.call('step', { ms: -3 });
    await t.snowflake(driver, 100);
    await sleep(10);
    await issued(t, driver);
    await driver.call('step', { ms: -3000 });
    await refused(t, driver, 'back', ['LEAF_CLOCK_BACKWARDS']);
    await driver.call('step', { ms: 3000 });
    await sleep(10);
    await issued(t, driver);
    await driver.call('step', { ms: FAR_MS });
    await refused(t, driver, 'window', ['LEAF_LEASE_EXPIRED']);
    await sleep(PROCESSING_MS);
    await refused(t, driver, 'window', ['LEAF_LEASE_EXPIRED']);
    await driver.call('step', { ms: -FAR_MS });
    await issued(t, driver);
    await driver.call('step', { ms: -HOUR_MS });
    await refused(t, driver, 'back', ['LEAF_CLOCK_BACKWARDS', 'LEAF_NOT_READY']);
  },

  async 'a clock that is set forward during a call'(t) {
    const driver = await held(t, 20_000);
    for (let afterReads = 1; afterReads <= 3; afterReads++) {
      await t.snowflake(driver, 3, { afterReads, ms: FAR_MS });
      await driver.call('step', { ms: -FAR_MS });
      await sleep(5);
      await issued(t, driver);
    }
  },

  async 'a clock that is set back during a call'(t) {
    const driver = await held(t, 20_000);
    for (let afterReads = 1; afterReads <= 3; afterReads++) {
      await issued(t, driver);
      await t.snowflake(driver, 3, { afterReads, ms: -FAR_MS });
      await driver.call('step', { ms: FAR_MS });
      await sleep(5);
    }
    await driver.call('step', { ms: FAR_MS });
    await t.snowflake(driver, 3, { afterReads: 1, ms: -FAR_MS });
    await issued(t, driver);
  },

  async 'a clock that stands still at the end of the window'(t) {
    t.windows = new Windows({ lastMs: 2400 });
    let time;
    await t.server((request) => t.windows.answer(request, isPut(request) ? { until: time } : {}));
    const driver = await t.startWindow();
    await t.ready(driver);
    await driver.call('freeze', { ms: 6000 });
    const { ids } = await t.snowflake(driver, 1);
    if (ids.length === 0) return t.check(false, 'answers', 'no snowflake ID after ready');
    time = Number(ids[0] >> 22n) + 1288834974657;
    await t.answered('extend', 'a PUT', isPut);
    await sleep(PROCESSING_MS);
    let count = 1;
    for (let call = 0; call < 4; call++) {
      const answer = await t.snowflake(driver, 3 * PER_MILLISECOND);
      count += answer.ids.length;
      const codes = ['LEAF_OVERLOADED', 'LEAF_LEASE_EXPIRED'];
      t.check(codes.includes(answer.code), 'window', `after ${count} IDs of a millisecond: ${answer.code}`);
    }
    t.check(count <= PER_MILLISECOND, 'window', `${count} IDs of one millisecond`);
    return undefined;
  },

  async 'a process that is suspended past the window'(t) {
    t.windows = new Windows({ lastMs: 1800 });
    let isSuspended = false;
    await t.server((request) => {
      if (isPut(request) && isSuspended) return { lose: true };
      return t.windows.answer(request);
    });
    const driver = await t.startWindow();
    await t.ready(driver);
    isSuspended = true;
    const run = t.runSnowflake(driver, { ms: 4500 });
    await sleep(300);
    driver.signal('SIGSTOP');
    await sleep(2200);
    driver.signal('SIGCONT');
    await sleep(500);
    isSuspended = false;
    await run;
    await t.answered('extend', 'a PUT after it', (each) => isPut(each) && !each.answer?.lose);
    await t.ready(driver);
    await issued(t, driver);
  },

  async 'snowflake IDs of several threads'(t) {
    const driver = await held(t, 2400);
    const runs = await Promise.all([1, 2, 3, 4].map(() => t.runSnowflake(driver, { ms: 1500 })));
    t.check(
      runs.every(({ count }) => count > 0),
      'answers',
      'a loop got no ID',
    );
  },
};
