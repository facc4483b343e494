import { MAX_RANGE_SIZE, type SegmentStore } from '@leaf-ids/core';
import { connect } from '../../../../test/support/contract/sql-stores';
import { REFUSED } from '../../../../test/support/http/refusal';
import { createTagStore } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import type { Statement } from '../connections/sql-database';
import { SQLITE_GUARD, SQLITE_TAGS } from '../dialects/sqlite/sqlite';
import { SqliteSegmentStore } from '../dialects/sqlite/sqlite-segment-store';
import { FailoverGuard, type FailoverOptions, MOVE_GENERATIONS } from './failover-guard';

const GAP = 10 * MAX_RANGE_SIZE;
const TODAY = expect.stringMatching(/^20[2-9]/) as string;
const LONG_AGO = '2020-01-01 00:00:00';
const { updated } = SQLITE_TAGS;

/** The message about a move of all tags. */
function moved(reason: string, steps = 10): string {
  return `sqlite::memory: (nothing lasts) ${reason}, and may lack the newest allocations. Every tag was moved forward by ${steps} times its step, at least ${steps}000000 IDs.`;
}
const PROMOTED = moved('moved from server a to server b: a replica was promoted');
const ANEW = moved('is a cluster with at most half of its previous members: it was started anew');
const LACKING = moved(
  'lacks the record of its server in leaf_segment_server: a replica was promoted, or the tables were replaced',
);
const OLDER = moved('is older than this server knows it: a backup was restored, or its file was replaced');

interface ServerRow {
  readonly server: string;
  readonly generation: number;
  readonly largest_step: number;
  readonly update_time: string;
}

describe('FailoverGuard', () => {
  let database: LeafDataSource;
  let messages: string[];
  let isCluster: boolean;
  /** How a cluster was followed: whether tags may be moved. */
  let followed: boolean[];
  let guard: FailoverGuard;
  let store: SegmentStore;

  beforeEach(async () => {
    database = await connect(parseDatabaseUrl('sqlite::memory:'));
    await execute('CREATE TABLE this_server (name, whole)');
    await execute("INSERT INTO this_server VALUES ('a', 1)");
    await execute('DELETE FROM leaf_alloc');
    await createTagStore(database).create({ tag: 'order', step: 10 });
    [messages, followed, isCluster] = [[], [], false];
    [guard, store] = newServer();
  });
  afterEach(() => database.destroy());

  /** Whose database server is the one that `this_server` names. */
  function newServer(options: Partial<FailoverOptions> = {}, place = "'one'"): [FailoverGuard, SegmentStore] {
    const follow = async (query: Statement, mayMove: boolean): Promise<boolean> => {
      followed.push(mayMove);
      const [row] = await query<{ whole: number }[]>('SELECT whole FROM this_server');
      if (mayMove) await query('UPDATE this_server SET whole = 1');
      return row?.whole === 1;
    };
    const dialect = {
      ...SQLITE_GUARD,
      database: place,
      askIdentity: async (query: Statement) => {
        const [row] = await query<{ name: string }[]>('SELECT name FROM this_server');
        const expression = 'SELECT CASE WHEN whole THEN name END FROM this_server';
        return { server: row!.name, expression: `(${expression})`, ...(isCluster && { follow }) };
      },
    };
    const all = { gapSteps: 10, onFailover: (text: string) => void messages.push(text), ...options };
    const made = new FailoverGuard(database.access, dialect, SQLITE_TAGS, all);
    return [made, new SqliteSegmentStore(database.access, made, SQLITE_TAGS)];
  }
  const execute = <Rows>(sql: string): Promise<Rows> => database.query<Rows>(sql);
  const statement: Statement = (sql, parameters = []) => database.access.run(sql, parameters);
  const promote = (): Promise<unknown> => execute("UPDATE this_server SET name = 'b'");
  const startAnew = (): Promise<unknown> => execute('UPDATE this_server SET whole = 0');
  const goBack = (): Promise<unknown> => execute('UPDATE leaf_segment_server SET generation = 0');
  const first = async (from = store): Promise<number> => Number((await from.allocate('order', 10)).from);
  const records = (): Promise<ServerRow[]> =>
    execute('SELECT server, generation, largest_step, update_time FROM leaf_segment_server');

  it('moves the tags once when a replica was promoted, however many allocations notice it', async () => {
    expect(await first()).toBe(1);
    // Another server knows a newer generation.
    await newServer()[0].prepare();
    await execute(`UPDATE leaf_segment_server SET update_time = '${LONG_AGO}'`);
    await promote();
    const firsts = await Promise.all([first(), first(), first()]);
    expect(firsts.sort()).toEqual([0, 10, 20].map((n) => 11 + GAP + n));
    expect(messages).toEqual([PROMOTED]);
    const generation = 2 + MOVE_GENERATIONS;
    expect(await records()).toEqual([{ server: 'b', generation, largest_step: MAX_RANGE_SIZE, update_time: TODAY }]);
    expect(guard.generation).toBe(generation);
  });

  it('leaves the tags alone when another server has moved them', async () => {
    const [, other] = newServer();
    expect([await first(), await first(other)]).toEqual([1, 11]);
    await promote();
    expect(await first(other)).toBe(21 + GAP);
    expect(await first()).toBe(31 + GAP);
    await guard.follow();
    expect(messages).toEqual([PROMOTED]);
    expect(guard.generation).toBe(2 + MOVE_GENERATIONS);
  });

  it('moves the tags when a cluster was started anew, and follows one that was not', async () => {
    isCluster = true;
    await first();
    expect(await guard.follow()).toBe(true);
    expect([messages, followed]).toEqual([[], [true]]);
    await startAnew();
    expect(await first()).toBe(11 + GAP);
    expect([messages, followed]).toEqual([[ANEW], [true, true]]);
  });

  describe('with something to do before a move', () => {
    let calls: number;
    let before: () => Promise<unknown>;
    beforeEach(async () => {
      isCluster = true;
      calls = 0;
      const beforeMove = async (): Promise<void> => {
        calls++;
        await before();
      };
      before = () => Promise.resolve();
      [guard, store] = newServer({ beforeMove });
      await first();
    });

    it('does it before the tags move', async () => {
      before = async () => expect(await execute('SELECT max_id FROM leaf_alloc')).toEqual([{ max_id: 11 }]);
      await startAnew();
      expect(await first()).toBe(11 + GAP);
      expect([calls, followed, messages]).toEqual([1, [false, true], [ANEW]]);
    });

    it('does not use the database when it fails', async () => {
      before = () => Promise.reject(new Error('not now'));
      await startAnew();
      await expect(first()).rejects.toThrow('not now');
      expect(await execute('SELECT max_id FROM leaf_alloc')).toEqual([{ max_id: 11 }]);
      expect(messages).toStrictEqual([]);
      before = () => Promise.resolve();
      expect(await first()).toBe(11 + GAP);
    });

    it('does nothing when another server has moved the tags, before it or meanwhile', async () => {
      const [, other] = newServer();
      before = () => first(other);
      await startAnew();
      expect(await first()).toBe(21 + GAP);
      expect([calls, messages]).toEqual([1, [ANEW]]);
      expect(await guard.follow()).toBe(true);
      expect([calls, messages]).toEqual([1, [ANEW]]);
    });
  });

  it('moves the tags when the record of the server is missing, and inserts it', async () => {
    await first();
    await execute('DELETE FROM leaf_segment_server');
    expect(await first()).toBe(11 + GAP);
    expect(messages).toEqual([LACKING]);
    expect(await records()).toMatchObject([{ server: 'a', generation: 1 + MOVE_GENERATIONS }]);
  });

  it.each([
    ['a server that refreshes', () => guard.advance()],
    ['a new server', () => newServer()[1].allocate('order', 10)],
  ])('a missing record is noticed by %s', async (_, notice) => {
    await first();
    await execute('DELETE FROM leaf_segment_server');
    await notice();
    expect(messages).toEqual([LACKING]);
  });

  it('tells a database that went back from one that moved to another server as well', async () => {
    await first();
    await goBack();
    expect(await first()).toBe(11 + GAP);
    await goBack();
    await promote();
    await first();
    expect(messages).toEqual([OLDER, moved('moved from server a to server b: a replica was promoted', 20)]);
  });

  it('counts the earlier moves that are lost', async () => {
    await first();
    await guard.restored();
    await guard.restored();
    await guard.advance();
    expect(guard.generation).toBe(2 + 2 * MOVE_GENERATIONS);
    await execute(`UPDATE leaf_segment_server SET generation = ${3 + MOVE_GENERATIONS}`);
    await guard.follow();
    await goBack();
    await guard.follow();
    expect(messages).toEqual([OLDER, expect.stringContaining('by 40 times its step, at least 40000000 IDs')]);
  });

  it('has a gap of the larger of the largest step and the largest range', () => {
    expect(guard.gap).toEqual({ steps: 10, least: MAX_RANGE_SIZE });
    const [other] = newServer({ gapSteps: 3, maxStep: 5 * MAX_RANGE_SIZE });
    expect(other.gap).toEqual({ steps: 3, least: 5 * MAX_RANGE_SIZE });
  });

  it('starts once, and again after a failure', async () => {
    await execute('ALTER TABLE this_server RENAME TO gone');
    await expect(first()).rejects.toEqual(REFUSED('LEAF_STORE_UNAVAILABLE'));
    expect(await records()).toStrictEqual([]);
    await execute('ALTER TABLE gone RENAME TO this_server');
    await Promise.all([guard.prepare(), guard.prepare()]);
    await guard.prepare();
    expect(await records()).toEqual([{ server: 'a', generation: 1, largest_step: MAX_RANGE_SIZE, update_time: TODAY }]);
  });

  it('advances by one, keeps the time of the last move, and raises the largest step', async () => {
    await guard.advance();
    expect(await records()).toStrictEqual([]);
    await guard.prepare();
    await execute(`UPDATE leaf_segment_server SET update_time = '${LONG_AGO}', largest_step = 5`);
    await guard.advance();
    const record = { server: 'a', generation: 2, largest_step: MAX_RANGE_SIZE, update_time: LONG_AGO };
    expect(await records()).toEqual([record]);
    expect(guard.generation).toBe(2);
    await execute('UPDATE leaf_segment_server SET largest_step = 5000000');
    await guard.advance();
    expect(await records()).toEqual([{ ...record, generation: 3, largest_step: 5_000_000 }]);
  });

  it('advances no database that is older, but moves it', async () => {
    await first();
    await goBack();
    await guard.advance();
    expect(messages).toEqual([OLDER]);
    expect(await records()).toMatchObject([{ generation: 1 + MOVE_GENERATIONS }]);
  });

  it('confirms an answer unless the database went back or moved meanwhile', async () => {
    await guard.prepare();
    expect(await guard.confirm(1)).toBe(true);
    await guard.advance();
    expect(await guard.confirm(1)).toBe(true);
    await goBack();
    expect(await guard.confirm(1)).toBe(false);
    expect(messages).toEqual([OLDER]);
    const sent = guard.generation - MOVE_GENERATIONS / 2;
    expect(await guard.confirm(sent)).toBe(false);
    expect(await guard.confirm(sent + 1)).toBe(true);
  });

  it('does not confirm the answer of an older database when it shares a check of the newer one', async () => {
    await guard.prepare();
    await guard.advance();
    const [transaction, follow] = [database.access.transaction.bind(database.access), guard.follow.bind(guard)];
    let confirmed: Promise<boolean> | undefined;
    const shared = new Promise<void>((resolve) => {
      const second = (): Promise<boolean> => {
        resolve();
        return follow();
      };
      jest.spyOn(guard, 'follow').mockImplementationOnce(follow).mockImplementationOnce(second);
    });
    jest.spyOn(database.access, 'transaction').mockImplementationOnce(async (...parameters) => {
      const answer = await transaction(...parameters);
      await execute('UPDATE leaf_segment_server SET generation = 1');
      confirmed = guard.confirm(1);
      await shared;
      return answer;
    });
    expect(await guard.follow()).toBe(true);
    expect(await confirmed).toBe(false);
    expect(messages).toStrictEqual([]);
    expect(await first()).toBe(1 + GAP);
    expect(messages).toEqual([OLDER]);
  });

  it('asks nothing that is known, and everything once', async () => {
    const [run, transaction] = [jest.spyOn(database.access, 'run'), jest.spyOn(database.access, 'transaction')];
    await Promise.all([guard.prepare(), guard.prepare()]);
    const { length } = run.mock.calls;
    await guard.prepare();
    expect(await guard.confirm(guard.generation)).toBe(true);
    expect(run).toHaveBeenCalledTimes(length);
    transaction.mockClear();
    await Promise.all([guard.follow(), guard.follow(), guard.follow()]);
    expect(transaction).toHaveBeenCalledTimes(1);
    await guard.follow();
    expect(transaction).toHaveBeenCalledTimes(2);
  });

  describe('without a gap', () => {
    beforeEach(async () => {
      [guard, store] = newServer({ gapSteps: 0 });
      await guard.prepare();
    });

    it('leaves everything as it is', async () => {
      expect(guard.expression).toBeUndefined();
      expect(guard.condition('1 = 0')).toBe('');
      await promote();
      expect(await guard.follow()).toBe(false);
      await guard.advance();
      await guard.followWithin(statement);
      expect([await first(), await first()]).toEqual([1, 11]);
      expect([await records(), messages]).toEqual([[], []]);
    });

    it('knows the epoch of the record that others keep, and does not raise its generation', async () => {
      expect(await guard.epoch(statement, updated)).toEqual({ count: 0, since: 0 });
      const [other] = newServer();
      await other.prepare();
      await guard.advance();
      expect(await records()).toMatchObject([{ generation: 1 }]);
      await other.restored();
      await promote();
      const epoch = { count: 1, since: expect.any(Number) as number };
      expect(await guard.epoch(statement, updated)).toEqual(epoch);
      expect(await guard.epochBeside(statement, updated)).toEqual(epoch);
    });

    it('moves the tags after a restore, if there is a gap', async () => {
      const empty = { code: 'LEAF_CONFIG_INVALID', message: 'After a restore, gapSteps must be at least 1.' };
      await expect(guard.restored()).rejects.toMatchObject(empty);
      await guard.restored({ steps: 1, least: 1 });
      expect(await first()).toBe(11);
    });
  });

  it('after a restore, moves the tags, follows the cluster and questions the numbers', async () => {
    isCluster = true;
    await first();
    await execute("INSERT INTO leaf_number_head VALUES ('invoice', '', 1, 1, '', 0, 5, 0)");
    await startAnew();
    const report = { database: 'sqlite::memory: (nothing lasts)', ids: 50n, tags: 1, periods: 0 };
    expect(await guard.restored({ steps: 5, least: 10 })).toMatchObject(report);
    expect(followed).toEqual([true]);
    expect(await execute('SELECT epoch < -1500000000 AS lost FROM leaf_number_head')).toEqual([{ lost: 1 }]);
    expect(await first()).toBe(61);
    expect(messages).toStrictEqual([]);
    expect(await records()).toMatchObject([{ server: 'a', generation: 1 + MOVE_GENERATIONS }]);
  });

  it('moves the tags in the transaction of a caller', async () => {
    await guard.prepare();
    await promote();
    let positions: unknown;
    const undone = database.access.transaction(async (query) => {
      await guard.followWithin(query);
      positions = await query('SELECT max_id FROM leaf_alloc');
      throw new Error('undone');
    }, 5000);
    await expect(undone).rejects.toEqual(REFUSED('LEAF_STORE_UNAVAILABLE'));
    expect(positions).toEqual([{ max_id: 1 + GAP }]);
    expect(await execute('SELECT max_id FROM leaf_alloc')).toEqual([{ max_id: 1 }]);
    expect(await first()).toBe(1 + GAP);
    expect(messages).toEqual([PROMOTED]);
  });

  it('counts the losses of the database, unless it has to act first', async () => {
    await first();
    await execute(`UPDATE leaf_segment_server SET update_time = '${LONG_AGO}'`);
    expect(await guard.epoch(statement, updated)).toEqual({ count: 0, since: Date.parse(`${LONG_AGO}Z`) / 1000 });
    await promote();
    expect(await guard.epoch(statement, updated)).toBeUndefined();
    await guard.follow();
    expect(await guard.epoch(statement, updated)).toMatchObject({ count: 1 });
    await goBack();
    expect(await guard.epoch(statement, updated)).toBeUndefined();
    await execute('DELETE FROM leaf_segment_server');
    expect(await guard.epoch(statement, updated)).toBeUndefined();
    const [late] = newServer();
    await late.prepare();
    expect(await late.epoch(statement, updated)).toBeUndefined();
  });

  it('counts them beside a transaction on the same server and database alone', async () => {
    const [placed] = newServer({}, '(SELECT place FROM this_place)');
    await execute('CREATE TABLE this_place (place)');
    await execute("INSERT INTO this_place VALUES ('one')");
    await placed.prepare();
    /** A transaction whose server, or database, is another one. */
    const where =
      (name: string, place: string): Statement =>
      (sql, parameters = []) =>
        statement(
          sql
            .replace('FROM this_server', `FROM (SELECT ${name} AS name, 1 AS whole)`)
            .replace('SELECT place FROM this_place', `SELECT ${place}`),
          parameters,
        );
    expect(await placed.epochBeside(where("'a'", "'one'"), updated)).toMatchObject({ count: 0 });
    expect(await placed.epochBeside(where("'b'", "'one'"), updated)).toBeUndefined();
    const message = (other: string, own: string): object => ({
      code: 'LEAF_REQUEST_INVALID',
      message: `The transaction is in the database ${other}, and the tags of Leaf are in ${own}. Use a connection to that database.`,
    });
    await expect(placed.epochBeside(where("'a'", "'two'"), updated)).rejects.toMatchObject(message('two', 'one'));
    await expect(placed.epochBeside(where("'a'", 'NULL'), updated)).rejects.toMatchObject(
      message('without a name', 'one'),
    );
    await execute('DELETE FROM this_place');
    await expect(placed.epochBeside(where("'a'", "'two'"), updated)).rejects.toMatchObject(
      message('two', 'another one'),
    );
  });

  it('reports the move of a single tag as well', () => {
    guard.report('a tag');
    expect(messages).toEqual(['a tag']);
  });
});
