import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { Numbers, type TransactionStatement } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { LeafNumbers } from '@leaf-ids/orm';
import { createStores, createTagStore } from '@leaf-ids/persistence';
import { clock, databaseFixture } from '../../support/contract/sql-stores';
import type { DatabaseFixture } from '../../support/contract/restore.contract';
import { openSqliteFile } from '../../support/servers/orm-databases';
import { until } from '../../support/until';

const INVOICE = { tag: 'invoice', step: 1, order: 'gapless' } as const;
const LOST = { code: 'LEAF_NUMBERS_HISTORY_LOST' };
const AGAIN = { code: 'LEAF_STORE_UNAVAILABLE' };
const PROMOTE = "UPDATE leaf_segment_server SET server = 'the former primary'";

describe('numbers that a database has lost', () => {
  let fixture: DatabaseFixture;
  let application: DataSource;

  beforeEach(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'leaf-numbers-'));
    const file = join(directory, 'leaf.sqlite');
    fixture = await databaseFixture(`sqlite:${file}`, () => rm(directory, { recursive: true }));
    application = await openSqliteFile(file, []);
    await createTagStore(fixture.database).create(INVOICE);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await application.destroy();
    await fixture.close();
  });

  function server() {
    const { segments, numbers: store } = createStores(
      fixture.database,
      { gapSteps: 10, onFailover: () => undefined },
      {},
      clock,
    );
    const numbers = new Numbers(store, clock, systemRandom, { waitMs: 5000 });
    const take = async (...keys: string[]): Promise<number[]> =>
      (await numbers.issue('invoice', keys, 'shop')).map(({ number }) => Number(number.number));
    const draw = (key: string): Promise<string> =>
      application.transaction((manager) => new LeafNumbers(numbers).next(manager, 'invoice', key));
    const resume = (lastNumber: bigint): Promise<number> =>
      numbers.continueAfter('invoice', { lastNumber, by: 'admin', reason: 'restored' });
    return { segments, numbers, take, draw, resume };
  }

  const execute = (sql: string): Promise<unknown> => fixture.database.query(sql);

  /** As a copy that has the first `count` numbers. */
  async function loseAllAfter(count: number): Promise<void> {
    for (const table of ['leaf_number', 'leaf_number_journal'])
      await execute(`DELETE FROM ${table} WHERE number > ${count}`);
    await execute(`DELETE FROM leaf_number_journal WHERE position > ${count}`);
    await execute(`UPDATE leaf_number_head SET next_number = ${count + 1}, position = ${count}, continued = 0,
      hash = (SELECT hash FROM leaf_number_journal WHERE position = ${count})`);
  }

  it('are not answered when a refresh has seen a newer database meanwhile', async () => {
    const { segments, take } = server();
    await take('a');
    const { access } = fixture.database;
    const transaction = access.transaction.bind(access);
    jest.spyOn(access, 'transaction').mockImplementationOnce(async (work, limitMs) => {
      const result = await transaction(work, limitMs);
      await segments.listTags();
      // A former primary has answered: the newer database lacks the number.
      await loseAllAfter(1);
      await execute('UPDATE leaf_segment_server SET generation = generation - 1');
      return result;
    });
    await expect(take('b')).rejects.toMatchObject(LOST);
  });

  it('are answered when a refresh has seen the same database meanwhile', async () => {
    const { segments, take } = server();
    await take('a');
    const { access } = fixture.database;
    const transaction = access.transaction.bind(access);
    const calls = jest.spyOn(access, 'transaction').mockImplementationOnce(async (work, limitMs) => {
      const result = await transaction(work, limitMs);
      await segments.listTags();
      return result;
    });
    expect(await take('b')).toEqual([2]);
    // That of the numbers, and that of the refresh.
    expect(calls).toHaveBeenCalledTimes(2);
  });

  it('count no more for a server that has seen them once somebody has said where to go on', async () => {
    const seeing = server();
    await seeing.take('a');
    await seeing.take('b', 'c', 'd', 'e', 'f');
    await loseAllAfter(1);
    await server().resume(2n);
    expect(await seeing.take('g')).toEqual([3]);
  });

  it('are noticed by a server that has served another tag since', async () => {
    const { numbers, take } = server();
    await createTagStore(fixture.database).create({ ...INVOICE, tag: 'receipt' });
    await take('a', 'b');
    await numbers.issue('receipt', ['a'], 'shop');
    await loseAllAfter(1);
    await expect(take('c')).rejects.toMatchObject(LOST);
  });

  it('are noticed in a copy from before a continuation, also when its journal is the longer one', async () => {
    const { take, resume } = server();
    await take('a');
    await resume(1n);
    await take('b');
    await server().take('c', 'd');
    await execute('UPDATE leaf_number_head SET continued = 0');
    await expect(take('e')).rejects.toMatchObject(LOST);
  });

  it('are in question no more when somebody says where to go on before a server has noticed the promotion', async () => {
    const { take, resume } = server();
    await take('a');
    await execute(PROMOTE);
    expect(await resume(4n)).toBe(3);
    expect(await take('b')).toEqual([5]);
  });

  describe('in a transaction of an application', () => {
    it('are not drawn while rows are there that the end of the numbers lacks', async () => {
      await server().take('a', 'b');
      await execute('UPDATE leaf_number_head SET next_number = 2, position = 1');
      await expect(server().draw('c')).rejects.toMatchObject(AGAIN);
      await expect(server().take('c')).rejects.toMatchObject(LOST);
    });

    it('are asked for after a promotion, and drawn again once somebody has said where to go on', async () => {
      const { take, draw, resume } = server();
      await take('a');
      await execute(PROMOTE);
      await expect(draw('b')).rejects.toMatchObject(LOST);
      await resume(4n);
      expect(await draw('b')).toBe('5');
    });

    it('are asked for when the database is promoted meanwhile', async () => {
      const { numbers, take, draw } = server();
      await take('a');
      const drawn = application.transaction((manager) => {
        let isPromoted = false;
        const statement: TransactionStatement = async <Rows>(
          sql: string,
          parameters: (string | number | bigint | null)[] = [],
        ) => {
          if (!isPromoted) await execute(PROMOTE);
          isPromoted = true;
          return manager.query<Rows>(sql, parameters);
        };
        return numbers.issueWithin(statement, 'invoice', ['b'], 'shop');
      });
      await expect(drawn).rejects.toMatchObject(AGAIN);
      await expect(draw('b')).rejects.toMatchObject(LOST);
    });

    it.each([
      ['some of them are gone', () => loseAllAfter(1)],
      [
        'all of them are gone',
        async () => {
          for (const table of ['leaf_number_head', 'leaf_number', 'leaf_number_journal'])
            await execute(`DELETE FROM ${table}`);
        },
      ],
    ])('are asked for by all servers when %s', async (_, lose) => {
      const { take, draw } = server();
      await take('a', 'b');
      await lose();
      await expect(draw('c')).rejects.toMatchObject(LOST);
      const isMarked = async (): Promise<boolean> => {
        const [head] = (await execute('SELECT MAX(epoch) AS epoch FROM leaf_number_head')) as {
          epoch: number | null;
        }[];
        return head!.epoch !== null && head!.epoch < 0;
      };
      await until('a mark that the history is lost', isMarked);
      await expect(server().take('c')).rejects.toMatchObject(LOST);
    });
  });
});
