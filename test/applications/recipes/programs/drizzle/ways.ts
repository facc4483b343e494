import type { MySqlTable } from 'drizzle-orm/mysql-core';
import { db } from './connection.js';
import { createTables, database, insertStored, tryWays } from './harness.js';
import * as recipe from './recipe.js';

const { kind } = database;
// The tables of each engine have a type of their own.
const [orders, lines] = [recipe.orders, recipe.lines] as unknown as [MySqlTable, MySqlTable];
const { withKeys } = recipe;
await createTables('orders', 'lines', 'order_id');

interface Conflict {
  onConflictDoNothing(): PromiseLike<unknown>;
  onConflictDoUpdate(change: object): PromiseLike<unknown>;
  onDuplicateKeyUpdate(change: object): PromiseLike<unknown>;
}
const upsert = async (customer: string): Promise<undefined> => {
  const insert = db.insert(orders).values((await withKeys('order', [{ customer }])) as never) as unknown as Conflict;
  if (kind === 'mariadb') await insert.onDuplicateKeyUpdate({ set: { customer: 'changed' } });
  else
    await insert.onConflictDoUpdate({
      target: (orders as never as { customer: unknown }).customer,
      set: { customer: 'changed' },
    });
  return undefined;
};
const keysOf = async (table: MySqlTable): Promise<unknown[]> => {
  const rows = (await db.select().from(table)) as { id: unknown }[];
  for (const { id } of rows) if (typeof id !== 'bigint') throw new Error(`${String(id)} is no bigint`);
  return rows.map(({ id }) => id);
};

await tryWays(['orders', 'lines'], {
  '`values(await withKeys(…))`': {
    run: async () => {
      await db.insert(orders).values((await withKeys('order', [{ customer: 'Ada' }, { customer: 'Bob' }])) as never);
      return keysOf(orders);
    },
    rows: { orders: 2 },
  },
  '`$defaultFn` with a snowflake ID, one row': {
    run: async () => {
      await db.insert(lines).values({ article: 'pen' } as never);
      return keysOf(lines);
    },
    rows: { lines: 1 },
  },
  '`$defaultFn`, several rows': {
    run: async () => {
      await db.insert(lines).values([{ article: 'pen' }, { article: 'ink' }] as never);
      return keysOf(lines);
    },
    rows: { lines: 2 },
  },
  'in a transaction': {
    run: () =>
      db.transaction(async (transaction) => {
        const [order] = await withKeys('order', [{ customer: 'Ada' }]);
        await transaction.insert(orders).values(order as never);
        await transaction.insert(lines).values({ article: 'pen', orderId: order!.id } as never);
        return [order!.id];
      }),
    rows: { orders: 1, lines: 1 },
  },
  'upsert, new row': { run: () => upsert('Ada'), rows: { orders: 1 } },
  'upsert, stored row': { run: () => upsert('stored'), rows: { orders: 1 }, stored: insertStored('orders') },
  'without a key': {
    run: async () => {
      await db.insert(orders).values({ customer: 'Ada' } as never);
      return undefined;
    },
    rows: {},
  },
});
