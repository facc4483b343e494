import { InMemoryNumberStore } from '../../../../test/support/fakes/in-memory-number-store';
import { FakeClock } from '../clock/fake-clock';
import { LeafError } from '../errors/leaf-error';
import { Numbers } from './numbers';

const DAY_MS = 86_400_000;
const WAIT_MS = 5000;
const BUSY = { code: 'LEAF_OVERLOADED', retryAfterMs: 1000 };
const STOPPING = { code: 'LEAF_NOT_READY' };
const away = new LeafError('LEAF_STORE_UNAVAILABLE', 'The database is away.');

let clock: FakeClock;
let store: InMemoryNumberStore;
let numbers: Numbers;

function open(settings: ConstructorParameters<typeof InMemoryNumberStore>[1] = {}): void {
  clock = new FakeClock(Date.UTC(2026, 10, 22, 10));
  store = new InMemoryNumberStore(clock, settings);
  numbers = new Numbers(store, clock, () => 0, { waitMs: WAIT_MS });
}

beforeEach(() => open());

async function take(...keys: string[]): Promise<number[]> {
  const answers = await numbers.issue('invoice', keys, 'shop');
  return answers.map(({ number }) => Number(number.number));
}

function keys(count: number, name = 'k'): string[] {
  return Array.from({ length: count }, (_, index) => `${name}${index}`);
}

/** The database answers nothing until the result is called. */
function hold(): () => void {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  store.line = () => held;
  return () => {
    store.line = () => Promise.resolve();
    release();
  };
}

describe('calls for numbers of one tag', () => {
  it('share a transaction, and wait while one runs', async () => {
    await take('first');
    const release = hold();
    const answers = Promise.all([take('a'), take('b', 'c'), clock.advance(1).then(() => take('d'))]);
    await clock.advance(2);
    release();
    expect(await answers).toEqual([[2], [3, 4], [5]]);
    expect(store.transactions).toEqual([[['first']], [['a'], ['b', 'c']], [['d']]]);
  });

  it('share a transaction of at most 2000 documents', async () => {
    await take('first');
    const calls = [take(...keys(1000, 'a')), take(...keys(1000, 'b')), take('c'), take(...keys(1000, 'd'))];
    await Promise.all(calls);
    expect(store.transactions.slice(1).map((calls) => calls.map((call) => call.length))).toEqual([
      [1000, 1000],
      [1, 1000],
    ]);
  });

  it('are refused while 20,000 documents wait, and served again afterwards', async () => {
    await take('first');
    for (let turn = 0; turn < 2; turn++) {
      const release = hold();
      const waiting = Array.from({ length: 22 }, (_, call) => take(...keys(1000, `${turn}-${call}-`)));
      const busy = Promise.allSettled(waiting.slice(20));
      await clock.advance(1);
      const refused = expect(busy).resolves.toMatchObject([{ reason: BUSY }, { reason: BUSY }]);
      release();
      await refused;
      expect((await Promise.all(waiting.slice(0, 20))).flat()).toHaveLength(20_000);
    }
  });

  it('read the settings of the tag once, also when they come together', async () => {
    expect(await Promise.all([take('a'), take('b')])).toEqual([[1], [2]]);
    expect(store.transactions).toEqual([[['a'], ['b']]]);
    const { reads } = store;
    await take('c');
    expect(store.reads).toBe(reads);
  });

  it('are each refused for their own reason', async () => {
    open({ max: 2n });
    await take('a');
    const [refused, given] = await Promise.allSettled([take('b', 'c'), take('d')]);
    expect([refused, given]).toMatchObject([{ reason: { code: 'LEAF_TAG_EXHAUSTED' } }, { value: [2] }]);
    expect(await take('a')).toEqual([1]);
  });
});

describe('a database that does not answer', () => {
  it('is asked again until it does', async () => {
    await take('first');
    const times: number[] = [];
    store.line = () => {
      times.push(clock.monotonic());
      return times.length < 8 ? Promise.reject(away) : Promise.resolve();
    };
    const given = take('a');
    await clock.advance(WAIT_MS - 1);
    expect(await given).toEqual([2]);
    // Each failure is followed by a look at the settings.
    expect([...new Set(times)]).toEqual([0, 25, 75, 175, 375]);
  });

  it('ends the call after the wait, and the document keeps the number that it may have got', async () => {
    await take('first');
    const carryOut = store.carryOut.bind(store);
    store.carryOut = async (...work) => {
      await carryOut(...work);
      throw away;
    };
    const late = expect(take('a')).rejects.toMatchObject({
      code: 'LEAF_STORE_UNAVAILABLE',
      message: expect.stringContaining('no answer of the database after 5000 ms') as string,
      retryAfterMs: 1000,
    });
    await clock.advance(WAIT_MS);
    await late;
    store.carryOut = carryOut;
    await clock.advance(WAIT_MS);
    const { length } = store.transactions;
    await clock.advance(WAIT_MS);
    expect(store.transactions).toHaveLength(length);
    expect(await take('a', 'b')).toEqual([2, 3]);
  });

  it('is not asked any more for the calls that have ended', async () => {
    await take('first');
    const release = hold();
    const given = [take('a')];
    await clock.advance(1);
    const ended = expect(take('early')).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    await clock.advance(WAIT_MS - 1000);
    given.push(take('late'));
    release();
    store.line = () => Promise.reject(away);
    await clock.advance(1000);
    await ended;
    store.line = () => Promise.resolve();
    await clock.advance(1000);
    expect(await Promise.all(given)).toEqual([[2], [3]]);
    expect(store.transactions.slice(2)).toContainEqual([['early'], ['late']]);
    expect(store.transactions.at(-1)).toEqual([['late']]);
  });

  it.each(['reset', 'zone', 'pattern'] as const)(
    'may have got a new tag of that name, with another %s',
    async (name) => {
      open({ reset: 'monthly' });
      await take('first');
      const other = { reset: 'yearly', zone: 'Asia/Tokyo', pattern: '{YYYY}{MM}{seq}' } as const;
      store.row = { ...store.row, [name]: other[name] };
      store.carryOut = () => Promise.reject(away);
      await expect(take('a')).rejects.toBe(away);
      store.carryOut = InMemoryNumberStore.prototype.carryOut.bind(store);
      const [answer] = await numbers.issue('invoice', ['a'], 'shop');
      expect(answer!.number.period).toBe(name === 'reset' ? '2026' : '2026-11');
    },
  );

  it('is asked once when it refuses, and the next call reads the settings again', async () => {
    await take('first');
    const refusal = new LeafError('LEAF_TAG_NOT_GAPLESS', 'It is another tag now.');
    const { reads, transactions } = store;
    store.line = () => Promise.reject(refusal);
    await expect(Promise.all([take('a'), take('b')])).rejects.toBe(refusal);
    expect([store.reads, transactions]).toEqual([reads, [[['first']], [['a'], ['b']]]]);
    store.line = () => Promise.resolve();
    expect(await take('a')).toEqual([2]);
    expect(store.reads).toBe(reads + 1);
  });

  it('fails a call to which it has no answer', async () => {
    store.carryOut = () => Promise.resolve([]);
    await expect(take('a')).rejects.toThrow('no answer');
    store.carryOut = () => Promise.resolve([[]]);
    await expect(numbers.confirm('invoice', 'a', 'shop')).rejects.toThrow('The store gave no answer.');
  });
});

describe('numbers in a transaction of the caller', () => {
  const statement = (): Promise<never> => Promise.reject(new Error('It is not used.'));

  it('are issued on its connection, and after a failure the settings are read again', async () => {
    const within = jest.spyOn(store, 'carryOutWithin');
    expect(await numbers.issueWithin(statement, 'invoice', ['a'], 'shop')).toMatchObject([{ number: { number: 1n } }]);
    expect(within.mock.lastCall).toMatchObject([
      statement,
      'invoice',
      store.row,
      [{ act: 'issue', key: 'a', isCurrent: true }],
    ]);
    const { reads } = store;
    within.mockRejectedValueOnce(away);
    await expect(numbers.issueWithin(statement, 'invoice', ['b'], 'shop')).rejects.toBe(away);
    expect(store.reads).toBe(reads);
    await numbers.issueWithin(statement, 'invoice', ['b'], 'shop');
    expect(store.reads).toBe(reads + 1);
  });
});

describe('a service that closes', () => {
  it('waits for the database, and refuses what is asked meanwhile', async () => {
    await take('first');
    const release = hold();
    const [given, found] = [take('a'), numbers.find('invoice', 'first')];
    await clock.advance(0);
    let isClosed = false;
    const closed = numbers.close().then(() => (isClosed = true));
    const next = expect(take('b')).rejects.toMatchObject(STOPPING);
    for (const refused of [
      numbers.find('invoice', 'first'),
      numbers.watch(),
      numbers.audit('invoice'),
      numbers.list('invoice', { limit: 1 }),
    ])
      await expect(refused).rejects.toMatchObject(STOPPING);
    expect(isClosed).toBe(false);
    release();
    expect(await given).toEqual([2]);
    await Promise.all([next, expect(found).rejects.toMatchObject(STOPPING), closed]);
  });

  it('ends an audit, however many numbers are left', async () => {
    await take('a');
    let closed = Promise.resolve();
    const journal = jest.spyOn(store, 'journal');
    jest.spyOn(store, 'headOf').mockImplementationOnce((_, period) => {
      closed = numbers.close();
      return Promise.resolve(store.heads.get(period));
    });
    await expect(numbers.audit('invoice')).rejects.toMatchObject(STOPPING);
    await closed;
    expect(journal).not.toHaveBeenCalled();
  });

  it('does not ask a database again that is away', async () => {
    await take('first');
    store.line = () => Promise.reject(away);
    const failed = expect(take('a')).rejects.toMatchObject(STOPPING);
    await clock.advance(1);
    await numbers.close();
    await clock.advance(100);
    await failed;
    expect(clock.monotonic()).toBeLessThan(WAIT_MS);
  });
});

describe('a period of the numbers', () => {
  beforeEach(() => open({ reset: 'monthly', zone: 'Asia/Tokyo', pattern: '{YYYY}{MM}{seq:3}' }));

  it('is the current one in the zone of the tag, or that of a date near it', async () => {
    clock.step(Date.UTC(2026, 10, 30, 15) - clock.now());
    const issue = async (key: string, at?: Date): Promise<string> => {
      const [answer] = await numbers.issue('invoice', [key], 'shop', at);
      return numbers.textOf('invoice', answer!.number);
    };
    expect([await issue('a'), await issue('b', new Date(clock.now() - 1))]).toEqual(['202612001', '202611001']);
    // Without a date, a document keeps its number.
    expect(await issue('b')).toBe('202611001');
    await expect(issue('c', new Date(clock.now() + 8 * DAY_MS))).rejects.toMatchObject({ code: 'LEAF_PERIOD_INVALID' });
    expect((await numbers.audit('invoice')).period).toBe('2026-12');
    expect(await numbers.audit('invoice', '2026-11')).toMatchObject({ period: '2026-11', last: 1n });
  });

  it('goes on after a number of the current one, or of one in which documents may still get numbers', async () => {
    const resume = (period?: string): Promise<number> =>
      numbers.continueAfter('invoice', { period, lastNumber: 2n, by: 'admin', reason: 'restored' });
    expect([await resume(), await resume('2026-10')]).toEqual([2, 2]);
    expect([...store.rows.values()].map(({ period, state }) => [period, state])).toEqual([
      ...Array<unknown>(2).fill(['2026-11', 'void']),
      ...Array<unknown>(2).fill(['2026-10', 'void']),
    ]);
    for (const [period, problem] of [
      ['2027-01', '"2027-01" is too far from 2026-11-22T10:00:00.000Z'],
      ['2024-01', '"2024-01" is too far from'],
      ['2026-13', 'does not exist'],
      ['2026', 'is not a monthly period'],
    ] as const) {
      await expect(resume(period)).rejects.toMatchObject({
        code: 'LEAF_PERIOD_INVALID',
        message: expect.stringContaining(problem) as string,
      });
    }
  });

  it.each(['opensAt', 'closesAt'] as const)('goes on at %s, and not beyond', async (bound) => {
    // November opens 7 days before it begins, and closes 24 months after it; clocks and zones may differ by a day each.
    const at = {
      opensAt: Date.UTC(2026, 10, 1) - 9 * DAY_MS,
      closesAt: Date.UTC(2026, 10, 1) + (31 * 25 + 2) * DAY_MS,
    };
    const resume = (): Promise<number> =>
      numbers.continueAfter('invoice', { period: '2026-11', lastNumber: 1n, by: 'admin', reason: 'restored' });
    clock.step(at[bound] - clock.now() + (bound === 'opensAt' ? -1 : 1));
    await expect(resume()).rejects.toMatchObject({ code: 'LEAF_PERIOD_INVALID' });
    clock.step(bound === 'opensAt' ? 1 : -1);
    expect(await resume()).toBe(1);
  });

  it('is named in a list, or the list has all', async () => {
    await numbers.issue('invoice', ['a'], 'shop');
    await numbers.issue('invoice', ['b'], 'shop', new Date(clock.now() - 31 * DAY_MS));
    expect(await numbers.list('invoice', { limit: 9 })).toHaveLength(2);
    expect(await numbers.list('invoice', { limit: 9, period: '2026-10' })).toMatchObject([{ key: 'b' }]);
    await expect(numbers.list('invoice', { limit: 9, period: '10' })).rejects.toMatchObject({
      code: 'LEAF_PERIOD_INVALID',
    });
  });

  it('is empty for a tag without periods', async () => {
    open();
    await numbers.issue('invoice', ['a'], 'shop', new Date(0));
    expect([...store.rows.values()]).toMatchObject([{ period: '' }]);
    expect(await numbers.list('invoice', { limit: 1, period: '' })).toHaveLength(1);
    for (const call of [numbers.list('invoice', { limit: 1, period: '2026' }), numbers.audit('invoice', '2026')])
      await expect(call).rejects.toMatchObject({ code: 'LEAF_PERIOD_INVALID' });
  });
});

describe('a number', () => {
  it('is found by its key, or was never given', async () => {
    await take('a');
    expect(await numbers.find('invoice', 'a')).toMatchObject({ number: 1n, state: 'issued' });
    await expect(numbers.find('invoice', 'b')).rejects.toMatchObject({ code: 'LEAF_NUMBER_NOT_FOUND' });
    await expect(numbers.find('receipt', 'a')).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
  });

  it('is given by a server on which its tag is not paused; open ones can be settled there', async () => {
    const paused = new Set<string>();
    await take('a');
    numbers = new Numbers(store, clock, () => 0, { waitMs: WAIT_MS, isPaused: (tag) => paused.has(tag) });
    paused.add('receipt');
    expect(await take('b')).toEqual([2]);
    paused.add('invoice');
    await expect(take('c')).rejects.toMatchObject({ code: 'LEAF_TAG_PAUSED' });
    expect(await numbers.confirm('invoice', 'a', 'shop')).toMatchObject({ number: { state: 'confirmed' } });
  });

  it('of another period than the date that is asked for stays the only one of its document', async () => {
    open({ reset: 'monthly' });
    await take('a');
    const earlier = new Date(clock.now() - 31 * DAY_MS);
    await expect(numbers.issue('invoice', ['a'], 'shop', earlier)).rejects.toMatchObject({
      code: 'LEAF_NUMBER_EXISTS',
    });
  });

  it('that is open is counted when somebody looks', async () => {
    await take('a');
    expect(numbers.open).toStrictEqual([]);
    await numbers.watch();
    expect(numbers.open).toMatchObject([{ tag: 'invoice', count: 1 }]);
  });

  it('has the text of the pattern, or is decimal, and none once it is void', async () => {
    open({ reset: 'yearly' });
    await take('a');
    const found = await numbers.find('invoice', 'a');
    expect([numbers.textOf('invoice', found), numbers.jsonOf('invoice', found).text]).toEqual(['1', undefined]);
    store.row = { ...store.row, pattern: '{YYYY}/{seq:3}' };
    await numbers.find('invoice', 'a');
    expect(numbers.textOf('invoice', found)).toBe('2026/001');
    const { number } = await numbers.void('invoice', 'a', 'shop', 'torn');
    expect(() => numbers.textOf('invoice', number)).toThrow(
      expect.objectContaining({ code: 'LEAF_NUMBER_SETTLED' }) as Error,
    );
    store.row = { ...store.row, pattern: '{no}' };
    await expect(numbers.find('invoice', 'a')).rejects.toMatchObject({
      ...{ code: 'LEAF_TAG_ROW_INVALID', cause: expect.objectContaining({ code: 'LEAF_CONFIG_INVALID' }) as Error },
      message: expect.stringContaining('unknown placeholder {no}') as string,
    });
  });
});
