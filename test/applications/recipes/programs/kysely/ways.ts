import { sql } from 'kysely';
import { createTables, database, insertStored, tryWays } from './harness.js';
import { db, withKeys } from './recipe.js';

const { kind } = database;
await createTables('orders', 'lines', 'order_id');

const upsert = async (customer: string): Promise<undefined> => {
  const insert = db.insertInto('orders').values(await withKeys('order', [{ customer }]));
  await (
    kind === 'mariadb'
      ? insert.onDuplicateKeyUpdate({ customer: 'changed' })
      : insert.onConflict((conflict) => conflict.column('customer').doUpdateSet({ customer: 'changed' }))
  ).execute();
  return undefined;
};
const keys = async (): Promise<unknown[]> => (await db.selectFrom('orders').select('id').execute()).map(({ id }) => id);

await tryWays(['orders', 'lines'], {
  '`values(await withKeys(…))`': {
    run: async () => {
      await db
        .insertInto('orders')
        .values(await withKeys('order', [{ customer: 'Ada' }, { customer: 'Bob' }]))
        .execute();
      return keys();
    },
    rows: { orders: 2 },
  },
  'in a transaction': {
    run: () =>
      db.transaction().execute(async (transaction) => {
        const [order] = await withKeys('order', [{ customer: 'Ada' }]);
        await transaction.insertInto('orders').values(order!).execute();
        const lines = await withKeys('line', [{ article: 'pen', order_id: order!.id }]);
        await transaction.insertInto('lines').values(lines).execute();
        return [order!.id, ...lines.map(({ id }) => id)];
      }),
    rows: { orders: 1, lines: 1 },
  },
  'upsert, new row': { run: () => upsert('Ada'), rows: { orders: 1 } },
  'upsert, stored row': { run: () => upsert('stored'), rows: { orders: 1 }, stored: insertStored('orders') },
  'without a key': {
    run: async () => {
      // @ts-expect-error The types require the key.
      await db.insertInto('orders').values({ customer: 'Ada' }).execute();
      return undefined;
    },
    rows: {},
  },
  'ignoring conflicts, without a key': {
    run: async () => {
      const insert = db.insertInto('orders').values({ customer: 'Ada' } as never);
      await (kind === 'mariadb' ? insert.ignore() : insert.onConflict((conflict) => conflict.doNothing())).execute();
      return undefined;
    },
    rows: {},
  },
  'SQL without a key': {
    run: async () => {
      await sql`INSERT INTO orders (customer) VALUES ('Ada')`.execute(db);
      return undefined;
    },
    rows: {},
  },
});
