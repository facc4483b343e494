import { issuedOf, Record } from './callers';

const ONE = JSON.stringify({ period: '2026-11-27', number: '7' });
const TWO = JSON.stringify({ numbers: [JSON.parse(ONE), JSON.parse(ONE)] });

it('takes whole answers, and the codes of refusals', () => {
  expect(issuedOf({ status: 201, body: ONE }, 1)).toMatchObject({ isNew: true, numbers: [{ number: '7' }] });
  expect(issuedOf({ status: 200, body: TWO }, 2)).toMatchObject({ isNew: false });
  expect(issuedOf({ status: 503, body: '{"code":"LEAF_NOT_READY"}' }, 1)).toBe('LEAF_NOT_READY');
});

it.each([
  ['an error without a code', 500, '{"message":"broken"}', 1],
  ['an error that is not JSON', 502, 'Bad Gateway', 1],
  ['another code', 500, '{"code":"ECONNRESET"}', 1],
  ['an unexpected code', 500, '{"code":"LEAF_INTERNAL"}', 1],
  ['an answer that is cut', 200, '{"per', 1],
  ['an answer without a number', 200, '{"period":"2026-11-27"}', 1],
  ['a number that is none', 200, '{"period":"2026-11-27","number":"x"}', 1],
  ['too few numbers', 200, TWO, 3],
])('records %s as a fault', (_, status, body, keys) => {
  const record = new Record();
  const answer = issuedOf({ status, body }, keys);
  expect(typeof answer).toBe('string');
  record.refused(answer as string);
  expect(record.faults).toEqual([`refused with ${answer as string}`]);
});

it('records no fault for a broken connection, or for the database of the application', () => {
  const record = new Record();
  for (const reason of ['timeout', 'reset', 'refused', 'LEAF_STORE_UNAVAILABLE']) record.refused(reason);
  record.refused('ER_LOCK_DEADLOCK', false);
  expect(record.faults).toStrictEqual([]);
  record.refused('LEAF_INTERNAL', false);
  expect(record.faults).toEqual(['refused with LEAF_INTERNAL']);
});
