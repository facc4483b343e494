import { InMemoryNumberStore } from '../../../../test/support/fakes/in-memory-number-store';
import { FakeClock } from '../clock/fake-clock';
import { MAX_ID } from '../segment/tags/id-range';
import type { DocumentNumber } from './document-number';
import { auditNumbers, type NumberAudit } from './number-audit';
import { JournalSeal } from './number-journal';
import { Numbers } from './numbers';

const DAY_MS = 86_400_000;

let clock: FakeClock;
let store: InMemoryNumberStore;
let numbers: Numbers;

beforeEach(async () => {
  clock = new FakeClock();
  store = new InMemoryNumberStore(clock, { first: 5n });
  numbers = new Numbers(store, clock, () => 0, { waitMs: 5000 });
  await numbers.issue('invoice', ['a', 'b', 'c', 'd'], 'shop');
  clock.step(DAY_MS);
  await numbers.confirm('invoice', 'b', 'till');
  await numbers.void('invoice', 'c', 'till', 'torn');
});

const audit = (): Promise<NumberAudit> => numbers.audit('invoice');
const change = (key: string, to: Partial<DocumentNumber>): unknown =>
  store.rows.set(key, { ...store.rows.get(key)!, ...to });

it('tells what is there', async () => {
  expect(await audit()).toEqual({
    ...{ tag: 'invoice', period: '', first: 5n, last: 8n, contiguous: true, missing: [], chronological: true },
    ...{ counts: { issued: 2, confirmed: 1, void: 1, reissued: 0 }, lines: 6, unverified: 0 },
    ...{ hash: store.lines.at(-1)!.hash, intact: true, fault: undefined },
  });
});

it('of a tag without a number finds none', async () => {
  store = new InMemoryNumberStore(clock, { reset: 'yearly' });
  numbers = new Numbers(store, clock, () => 0, { waitMs: 5000 });
  expect(await audit()).toMatchObject({
    ...{ first: undefined, last: undefined, contiguous: true, chronological: true, intact: true, lines: 0, hash: '' },
  });
  const stray = {
    key: 'x',
    period: '2023',
    number: 1n,
    turn: 0,
    state: 'issued',
    issuedAt: 1,
    issuedBy: 'me',
  } as const;
  store.rows.set('x', { ...stray, settledAt: undefined, settledBy: undefined, reason: undefined });
  expect(await audit()).toMatchObject({ intact: false, fault: { number: 1n } });
});

it('knows the documents that had a number before', async () => {
  store.row = { ...store.row, reissue: true };
  await numbers.issue('invoice', ['e', 'f'], 'shop');
  await numbers.void('invoice', 'e', 'till', 'torn, too');
  await numbers.issue('invoice', ['g'], 'shop');
  expect(await audit()).toMatchObject({
    ...{ intact: true, last: 9n, counts: { issued: 4, confirmed: 1, void: 0, reissued: 2 }, lines: 10 },
  });
  change('e', { state: 'void' });
  expect(await audit()).toMatchObject({
    intact: false,
    fault: {
      number: 7n,
      problem: expect.stringMatching(/^its row says .*"void".*, the journal .*"reissued"/) as string,
    },
  });
});

it.each<[string, Partial<DocumentNumber>]>([
  ['the key', { key: 'x' }],
  ['the turn', { turn: 1 }],
  ['the state', { state: 'issued' }],
  ['when it was issued', { issuedAt: 1 }],
  ['who asked for it', { issuedBy: 'me' }],
  ['when it was settled', { settledAt: 1 }],
  ['who settled it', { settledBy: 'me' }],
  ['the reason', { reason: 'lost' }],
])('names a row in which somebody has changed %s', async (_, to) => {
  change('c', to);
  const [[name, value]] = Object.entries(to) as [[string, unknown]];
  const { intact, contiguous, fault } = await audit();
  expect([intact, contiguous, fault?.number, fault?.position]).toEqual([false, true, 7n, undefined]);
  expect(fault?.problem).toContain(`its row says`);
  expect(fault?.problem.split(', the journal ')[0]).toContain(`"${name}":${JSON.stringify(value)}`);
});

it.each<[string, () => unknown, object]>([
  ['a row', () => store.rows.delete('b'), { number: 6n, problem: 'the row of the document "b" is missing' }],
  [
    'a row and its lines',
    () => {
      store.rows.delete('d');
      store.lines.splice(3, 1);
    },
    { number: 6n, position: 5, problem: 'lines of the journal before this one are missing' },
  ],
  [
    'a row and the line in which it was issued',
    () => {
      store.rows.delete('b');
      store.lines.splice(1, 1);
    },
    { number: 6n, position: undefined, problem: 'neither a row nor the journal has it' },
  ],
  [
    'the hash of a line',
    () => (store.lines[1] = { ...store.lines[1]!, hash: 'other' }),
    { number: 6n, position: 2, problem: 'the line of the journal was changed, or one before it was removed' },
  ],
  [
    'the last line',
    () => store.lines.pop(),
    { number: undefined, position: 6, problem: 'the last lines of the journal are missing' },
  ],
  [
    'the end of the last line',
    () => store.heads.set('', { ...store.heads.get('')!, hash: 'other' }),
    { position: 7, problem: 'the last line of the journal is not the one that was written last' },
  ],
  [
    'the truth of a line',
    () => (store.lines[1] = { ...store.lines[1]!, by: 'me' }),
    { number: 6n, position: 2, problem: 'the line of the journal was changed, or one before it was removed' },
  ],
])('names what somebody has removed: %s', async (_, remove, fault) => {
  remove();
  expect(await audit()).toMatchObject({ intact: false, fault });
});

it('names the lower number when a row and a line are wrong', async () => {
  store.lines[3] = { ...store.lines[3]!, by: 'me' };
  change('a', { state: 'void' });
  expect(await audit()).toMatchObject({ fault: { number: 5n, position: undefined } });
  change('a', { state: 'issued' });
  store.lines[0] = { ...store.lines[0]!, by: 'me' };
  expect(await audit()).toMatchObject({ fault: { number: 5n, position: 1 } });
});

it.each([
  ['beside others', 7n, 'its row is not in the journal'],
  ['above all others', 9n, 'its row is not in the journal'],
])('names a row that somebody has inserted %s', async (_, number, problem) => {
  store.rows.set('x', { ...store.rows.get('a')!, key: 'x', number, turn: 1 });
  expect(await audit()).toMatchObject({ fault: { number, problem: expect.stringContaining(problem) as string } });
});

it('lists the numbers without a row as ranges', async () => {
  await numbers.issue(
    'invoice',
    Array.from({ length: 9 }, (_, index) => `more ${index}`),
    'shop',
  );
  for (const key of ['a', 'b', 'd', 'more 7', 'more 8']) store.rows.delete(key);
  expect(await audit()).toMatchObject({
    ...{ first: 7n, last: 15n, contiguous: false, intact: false },
    missing: [
      { from: 5n, to: 6n },
      { from: 8n, to: 8n },
      { from: 16n, to: 17n },
    ],
  });
});

it('says when a number has an earlier date than a lower one, which a restored clock can cause', async () => {
  const next = await numbers.issue('invoice', ['e'], 'shop');
  expect((await audit()).chronological).toBe(true);
  change('e', { issuedAt: next[0]!.number.issuedAt - DAY_MS - 1 });
  expect((await audit()).chronological).toBe(false);
});

it('does not report what is settled or issued while it reads', async () => {
  // After the rows were read.
  const lines = jest.spyOn(store, 'linesOf');
  lines.mockImplementationOnce(async (...range) => {
    await numbers.void('invoice', 'a', 'till', 'torn');
    return store.linesOf(...range);
  });
  expect(await audit()).toMatchObject({ intact: true, counts: { issued: 1, confirmed: 1, void: 2, reissued: 0 } });
  jest.spyOn(store, 'journal').mockImplementationOnce(async (...page) => {
    await numbers.issue('invoice', ['e'], 'shop');
    return store.journal(...page);
  });
  expect(await audit()).toMatchObject({ intact: true, last: 8n, lines: 7 });
});

it('reads page by page, and ends when the server stops', async () => {
  for (let call = 0; call < 2; call++) {
    await numbers.issue(
      'invoice',
      Array.from({ length: 998 }, (_, index) => `${call} ${index}`),
      'shop',
    );
  }
  const [rows, lines] = [jest.spyOn(store, 'rowsOf'), jest.spyOn(store, 'journal')];
  expect(await audit()).toMatchObject({ intact: true, last: 2004n, lines: 2002 });
  expect(lines.mock.calls.map(([, , after, limit]) => [after, limit])).toEqual([
    [0, 1000],
    [1000, 1000],
    [2000, 2],
  ]);
  expect(rows.mock.calls.map(([, , from, to]) => [from, to])).toEqual([
    [5n, 1004n],
    [1005n, 2004n],
    // Whether somebody has inserted a row above all.
    [2005n, MAX_ID],
  ]);
  for (const most of [1, 4]) {
    let open = 0;
    const stops = (): void => {
      if (++open > most) throw new Error('Leaf is stopping');
    };
    await expect(auditNumbers(store, 'invoice', '', store.row, stops)).rejects.toThrow('Leaf is stopping');
    expect(open).toBe(most + 1);
  }
});

it('finds each number when a page lacks one', async () => {
  const more = Array.from({ length: 995 }, (_, index) => `more ${index}`);
  await numbers.issue('invoice', more, 'shop');
  expect(await audit()).toMatchObject({ intact: true, last: 1003n, missing: [] });
});

it('lists the first 1000 ranges of numbers without a row', async () => {
  for (let call = 0; call < 3; call++) {
    const keys = Array.from({ length: 800 }, (_, index) => `${call} ${index}`);
    await numbers.issue('invoice', keys, 'shop');
    for (let index = 0; index < keys.length; index += 2) store.rows.delete(keys[index]!);
  }
  const { missing } = await audit();
  expect([missing.length, missing[0], missing.at(-1)]).toEqual([
    ...[1000, { from: 9n, to: 9n }, { from: 2007n, to: 2007n }],
  ]);
});

it('counts the lines that it cannot check without the key', async () => {
  const { seal } = store;
  Object.assign(store, { seal: new JournalSeal('a secret of the auditor') });
  await numbers.issue('invoice', ['e', 'f'], 'shop');
  Object.assign(store, { seal });
  expect(await audit()).toMatchObject({ intact: true, lines: 8, unverified: 2 });
});

it('is one at a time on each server', async () => {
  const first = audit();
  await expect(audit()).rejects.toMatchObject({ code: 'LEAF_OVERLOADED', retryAfterMs: 5000 });
  await first;
  store.headOf = () => Promise.reject(new Error('The database is away.'));
  await expect(audit()).rejects.toThrow('The database is away.');
  await expect(audit()).rejects.toThrow('The database is away.');
});
