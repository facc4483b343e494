import type { ClusterServer } from '../../monitor/views';
import { databasesOf } from './databases';
import { expiredServers } from './expired-servers';
import { selectServers, ServerRates, type ServerRow, sumOfRates } from './server-sorting';

function server(instance: string, more: Partial<ClusterServer> = {}): ClusterServer {
  return { instance, self: false, state: 'ready', ...more };
}

function row(instance: string, more: Partial<ClusterServer> = {}, done?: boolean): ServerRow {
  const shown = done === undefined ? undefined : { result: { instance, done }, command: 'drain' };
  return { server: server(instance, more), rates: [], shown };
}

const ROWS: readonly ServerRow[] = [
  row('10.0.0.10:8080', { idsPerSecond: { segment: 5, snowflake: 1 } }),
  row('10.0.0.9:8080', {
    state: 'silent',
    workerId: 4,
    tags: { count: 1, used: [{ tag: 'order', idsPerSecond: 1 }] },
  }),
  row('10.0.0.1:8080', { state: 'draining', version: '0.2.0', idsPerSecond: { segment: 1, snowflake: 0 } }),
  row('10.0.0.2:8080', { errorsPerSecond: 0.5 }),
  row('10.0.0.3:8080', {}, false),
  row('10.0.0.4:8080', { state: 'unasked' }, true),
];

function names(rows: readonly ServerRow[]): string[] {
  return rows.map(({ server: { instance } }) => instance.slice(7, -5));
}

describe('selectServers', () => {
  const byName = { by: 'server', descending: false } as const;

  it('sorts addresses by their numbers', () => {
    expect(names(selectServers(ROWS, '', 'all', byName))).toEqual(['1', '2', '3', '4', '9', '10']);
  });

  it('sorts by a measure, and equal ones by address', () => {
    const byRate = selectServers(ROWS, '', 'all', { by: 'rate', descending: true });
    expect(names(byRate)).toEqual(['10', '1', '2', '3', '4', '9']);
    const byState = selectServers(ROWS, '', 'all', { by: 'state', descending: false });
    expect(names(byState)).toEqual(['9', '1', '2', '3', '10', '4']);
  });

  it('shows the servers that need attention: not ready, with errors, or with a failed command', () => {
    expect(names(selectServers(ROWS, '', 'trouble', byName))).toEqual(['1', '2', '3', '9']);
    expect(names(selectServers(ROWS, '', 'ready', byName))).toEqual(['2', '3', '10']);
  });

  it.each([
    ['0.0.1', ['1', '10']],
    [' ORDER ', ['9']],
    ['0.2.0', ['1']],
    ['nothing', []],
  ])('finds %j', (search, expected) => {
    expect(names(selectServers(ROWS, search, 'all', byName))).toEqual(expected);
  });
});

describe('expiredServers', () => {
  const HOUR_MS = 3_600_000;
  const worker = { kind: 'server', state: 'expired', holder: 'gone', workerId: 1, ceiling: 2 * HOUR_MS - 5 } as const;

  it('lists the servers whose lease has expired within an hour, once each', () => {
    const workers = [{ ...worker, workerId: 2, ceiling: worker.ceiling - 9 }, worker];
    expect(expiredServers({ workerIds: 1024, now: 2 * HOUR_MS, workers }, [])).toEqual([
      { instance: 'gone', self: false, state: 'expired', workerId: 1, expiredAt: worker.ceiling },
    ]);
  });

  it.each([
    ['is listed', { holder: 'listed' }],
    ['has released it', { state: 'released' }],
    ['is a worker window', { kind: 'window' }],
    ['is an additional process', { holder: '10.0.0.7#1:8080' }],
    ['expired long ago', { ceiling: HOUR_MS - 1 }],
  ] as const)('leaves out a holder that %s', (_, more) => {
    const workers = [{ ...worker, ...more }];
    expect(expiredServers({ workerIds: 1024, now: 2 * HOUR_MS, workers }, [{ instance: 'listed' }])).toStrictEqual([]);
  });
});

describe('ServerRates', () => {
  it('keeps two minutes of each server, and forgets servers that are gone', () => {
    const rates = new ServerRates();
    const answer = (...servers: ClusterServer[]): void => rates.take({ asked: true, now: 0, servers });
    for (let round = 0; round < 70; round++) {
      answer(server('a', { idsPerSecond: { segment: round, snowflake: 1 } }), server('b', { state: 'silent' }));
    }
    expect([rates.of('a').length, rates.of('a')[0], rates.of('a').at(-1)]).toEqual([60, 11, 70]);
    expect(rates.of('b')).toEqual(Array(60).fill(0));
    answer(server('a'));
    expect(rates.of('b')).toStrictEqual([]);
  });

  it('adds lines from their ends', () => {
    expect(sumOfRates([[1, 2, 3], [10], []])).toEqual([1, 2, 13]);
    expect(sumOfRates([])).toStrictEqual([]);
  });
});

describe('databasesOf', () => {
  const tag = (name: string, shard?: string): Parameters<typeof databasesOf>[0][number] => ({
    ...{ tag: name, maxId: '1', step: 1, description: '', updatedAt: '' },
    ...(shard === undefined ? {} : { shard }),
  });

  it('groups tags by database, the busiest first', () => {
    const rates: Readonly<Record<string, number>> = { a: 1, c: 5 };
    const rows = [tag('b', 'two'), tag('a', 'two'), tag('c', 'one'), tag('d', 'two')];
    expect(databasesOf(rows, (name) => rates[name] ?? 0)).toEqual([
      { name: 'one', rate: 5, tags: [{ tag: 'c', rate: 5 }] },
      {
        name: 'two',
        rate: 1,
        tags: [
          { tag: 'a', rate: 1 },
          { tag: 'b', rate: 0 },
          { tag: 'd', rate: 0 },
        ],
      },
    ]);
  });

  it('has none without names of databases', () => {
    expect(databasesOf([tag('a')], () => 1)).toStrictEqual([]);
  });
});
