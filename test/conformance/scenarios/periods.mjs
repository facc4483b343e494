import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { refusal } from '../kit/scripted-server.mjs';

const DATE = '2026-10-05';
const VECTORS = join(import.meta.dirname, '../worker-windows.json');

export const periods = {
  async 'numbers of periods'(t) {
    await t.server((request) => t.ranges.answer(request, { period: request.date?.slice(0, 7) ?? '2026-11' }));
    const driver = await t.start();
    const numbers = [];
    for (let call = 0; call < 3; call++) numbers.push(await t.period(driver, 'invoice'));
    const { period, number } = await t.period(driver, 'invoice', DATE);
    t.check(String(numbers.map((each) => each.number)) === '1,2,3', 'period', 'the first numbers are not 1 to 3');
    t.check(period === '2026-10' && number === '1', 'period', `the first number of ${DATE} is ${number} of ${period}`);
    const { date } = t.requests.at(-1);
    t.check(date?.startsWith(DATE) === true, 'period', `the date of the request is ${date}`);
    t.check(t.requests.length === 4, 'period', `${t.requests.length} requests for 4 numbers`);
  },

  async 'numbers of periods: answers that are wrong'(t) {
    t.duplicates = 'repeated';
    let count = 0;
    const respond = (request) => {
      const turn = count++ % 6;
      const period = '2026-11';
      if (turn === 1) return t.ranges.answer(request, { period, lose: true });
      if (turn === 3) return t.ranges.answer(request, { period, nonce: 'another-request', forbidden: 'nonce' });
      if (turn !== 5) return t.ranges.answer(request, { period });
      const last = t.ranges.grants.findLast(({ forbidden }) => forbidden === undefined).ranges;
      return t.ranges.answerWith(request, last, { period, nonce: null, forbidden: 'repeated' });
    };
    // One request per call: the second try is for another server.
    await t.server(respond);
    await t.server(respond);
    const driver = await t.start();
    let numbers = 0;
    for (let call = 0; call < 12; call++)
      numbers += (await t.period(driver, 'invoice', undefined, 'any')).number ? 1 : 0;
    t.check(numbers >= 6, 'answers', `${numbers} numbers in 12 calls, half of the answers are right`);
  },

  async 'numbers of periods: refusals'(t) {
    await t.server(({ tag }) => (tag === 'invoice' ? refusal(400, 'LEAF_PERIOD_INVALID') : { lose: true }));
    const driver = await t.start({ timeoutMs: 3000 });
    await t.period(driver, 'invoice', '1999-01-01', 'LEAF_PERIOD_INVALID');
    await t.period(driver, 'receipt', undefined, 'LEAF_SERVERS_UNAVAILABLE');
  },

  async 'the fields of an ID'(t) {
    const { layouts, compose } = JSON.parse(readFileSync(VECTORS, 'utf8'));
    await t.server(() => ({ lose: true }));
    for (const [name, layout] of Object.entries(layouts)) {
      const driver = await t.start({ layout });
      for (const { id, timestamp, workerId, sequence } of compose.filter((vector) => vector.layout === name)) {
        const answer = await driver.call('decode', { value: id });
        const fields = [answer.timestamp, answer.workerId, answer.sequence];
        t.check(String(fields) === `${timestamp},${workerId},${sequence}`, 'decode', `${id}: ${String(fields)}`);
      }
    }
  },
};
