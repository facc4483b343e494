import { LeafError, Numbers } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { openPersistence } from '@leaf-ids/persistence';
import { Invoice, leafNumberContract, Receipt } from '../../support/contract/leaf-number.contract';
import { clock } from '../../support/contract/sql-stores';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { OrmDatabases, SERVERS } from '../../support/servers/orm-databases';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres';
import { beginTransaction, type Transaction } from '../../support/servers/transactions';

let databases: OrmDatabases;
beforeAll(async () => (databases = await OrmDatabases.start(SERVERS)));
afterAll(() => databases.stop());

for (const name of SERVERS) {
  leafNumberContract(name, false, async () => {
    const dataSource = await databases.open(name, [Invoice, Receipt]);
    return { dataSource, leaf: { dataSource, migrate: true } };
  });
}

/** A transaction on a database, by default another one than that of the numbers, gets none. */
async function expectRefused(numbers: Numbers, url: string, code = 'LEAF_REQUEST_INVALID'): Promise<void> {
  const transaction = await beginTransaction(url);
  if (code === 'LEAF_REQUEST_INVALID') {
    const other = (await openPersistence({ url, migrate: true }))!;
    await other.tags.create({ tag: 'invoice', step: 1, order: 'gapless' });
    await other.onApplicationShutdown();
  }
  await expect(numbers.issueWithin(transaction.statement, 'invoice', ['refused'], 'app')).rejects.toMatchObject({
    code,
  });
  await transaction.end('ROLLBACK');
}

describe('numbers in a transaction without an ORM', () => {
  let mariadb: MariadbServer;
  let postgres: PostgresServer;

  beforeAll(async () => {
    [mariadb, postgres] = await Promise.all([startMariadb(), startPostgres()]);
  });
  afterAll(() => Promise.all([mariadb.stop(), postgres.stop()]));

  it.each([
    ['mysql2', () => mariadb.createDatabase()],
    ['pg', () => postgres.createDatabase()],
  ])('of %s are committed and rolled back with it', async (_, create) => {
    const url = await create();
    const persistence = (await openPersistence({ url, migrate: true }))!;
    await persistence.tags.create({ tag: 'invoice', step: 1, order: 'gapless' });
    const numbers = new Numbers(persistence.numbers, clock, systemRandom, { waitMs: 20_000 });
    for (const [how, expected] of [
      ['ROLLBACK', 1n],
      ['COMMIT', 1n],
      ['COMMIT', 2n],
    ] as const) {
      const transaction = await beginTransaction(url);
      const [answer] = await numbers.issueWithin(transaction.statement, 'invoice', [`${how} ${expected}`], 'app');
      expect(answer).toMatchObject({ isNew: true, number: { number: expected } });
      await transaction.end(how);
    }
    expect(await numbers.audit('invoice')).toMatchObject({ last: 2n, contiguous: true, intact: true });
    await expectRefused(numbers, await create());
    // The application is the first to see that the primary is another one; it is told where the numbers go on.
    const mark = await beginTransaction(url);
    await mark.statement("UPDATE leaf_segment_server SET server = 'the former primary'");
    await mark.end('COMMIT');
    await expectRefused(numbers, url, 'LEAF_NUMBERS_HISTORY_LOST');
    await numbers.continueAfter('invoice', { lastNumber: 2n, by: 'admin', reason: 'nothing was lost' });
    const after = await beginTransaction(url);
    const [answer] = await numbers.issueWithin(after.statement, 'invoice', ['after'], 'app');
    await after.end('COMMIT');
    expect(answer).toMatchObject({ number: { number: 3n } });
    await persistence.onApplicationShutdown();
  });

  it.each([
    ['mysql2', 'READ UNCOMMITTED'],
    ['mysql2', 'READ COMMITTED'],
    ['mysql2', 'REPEATABLE READ'],
    ['mysql2', 'SERIALIZABLE'],
    ['pg', 'READ COMMITTED'],
    ['pg', 'REPEATABLE READ'],
    ['pg', 'SERIALIZABLE'],
  ])('of %s have no gap when each began before the others: %s', async (driver, level) => {
    const url = await (driver === 'pg' ? postgres : mariadb).createDatabase();
    const persistence = (await openPersistence({ url, migrate: true }))!;
    await persistence.tags.create({ tag: 'invoice', step: 1, order: 'gapless' });
    const numbers = new Numbers(persistence.numbers, clock, systemRandom, { waitMs: 20_000 });
    const begin = async (): Promise<Transaction> => {
      const transaction = await beginTransaction(url);
      const { statement } = transaction;
      if (driver === 'mysql2') {
        for (const sql of [`SET SESSION TRANSACTION ISOLATION LEVEL ${level}`, 'COMMIT', 'BEGIN']) await statement(sql);
      } else {
        await statement(`SET TRANSACTION ISOLATION LEVEL ${level}`);
      }
      await statement('SELECT count(*) FROM leaf_number');
      return transaction;
    };
    const issued = new Map<string, bigint>();
    const draw = async (key: string, transaction: Transaction): Promise<void> => {
      try {
        const [answer] = await numbers.issueWithin(transaction.statement, 'invoice', [key], 'app');
        await transaction.end('COMMIT');
        issued.set(key, answer!.number.number);
      } catch (error) {
        if (error instanceof LeafError) expect(error).toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
        transaction.close();
        await draw(key, await begin());
      }
    };
    const transactions = await Promise.all(Array.from({ length: 8 }, begin));
    await Promise.all(transactions.map((transaction, index) => draw(`document ${index}`, transaction)));
    expect([...issued.values()].sort()).toEqual([1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n]);
    expect(await numbers.audit('invoice')).toMatchObject({ last: 8n, contiguous: true, intact: true });
    await persistence.onApplicationShutdown();
  });

  it.each(['REPEATABLE READ', 'SERIALIZABLE'])(
    'do not count as lost when they are not in the database as a transaction of pg sees it: %s',
    async (level) => {
      const url = await postgres.createDatabase();
      const persistence = (await openPersistence({ url, migrate: true }))!;
      await persistence.tags.create({ tag: 'invoice', step: 1, order: 'gapless', reset: 'monthly', zone: 'UTC' });
      const numbers = new Numbers(persistence.numbers, clock, systemRandom, { waitMs: 20_000 });
      await numbers.watch();
      const transaction = await beginTransaction(url);
      await transaction.statement(`SET TRANSACTION ISOLATION LEVEL ${level}`);
      await transaction.statement('SELECT count(*) FROM leaf_number');
      // The first number of the period.
      await numbers.issue('invoice', ['first'], 'app');
      const late = numbers.issueWithin(transaction.statement, 'invoice', ['second'], 'app');
      await expect(late).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
      await transaction.end('ROLLBACK');
      expect(await numbers.issue('invoice', ['third'], 'app')).toMatchObject([{ number: { number: 2n } }]);
      await persistence.onApplicationShutdown();
    },
  );
});
