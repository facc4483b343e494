import type { EntityManager, SchemaGenerator } from '@mikro-orm/postgresql';
import { connect } from './connection.js';
import { database, ids, insertStored, tryWays } from './harness.js';
import { LeafSubscriber, Line, Order, withKeys } from './recipe.js';

const orm = await connect({ entities: [Order, Line], subscribers: [new LeafSubscriber(ids)] });
await (orm.schema as unknown as SchemaGenerator).create();
const fork = (): EntityManager => orm.em.fork() as EntityManager;

/** Persists orders with these numbers of lines. */
async function flushed(counts: number[]): Promise<unknown[]> {
  const em = fork();
  const orders = counts.map((count, index) => {
    const order = new Order(`customer ${index}`);
    for (let line = 0; line < count; line++) order.lines.add(new Line('pen'));
    return order;
  });
  await em.persist(orders).flush();
  return orders.flatMap((order) => [order.id, ...order.lines.getItems().map(({ id }) => id)]);
}

await tryWays(['order', 'line'], {
  '`persist` and `flush`': { run: () => flushed([0]), rows: { order: 1 } },
  '`flush` of several': { run: () => flushed([0, 0, 0]), rows: { order: 3 } },
  '`flush` with a cascade': { run: () => flushed([2, 1]), rows: { order: 2, line: 3 } },
  '`create`': {
    run: async () => {
      const em = fork();
      const order = em.create(Order, { customer: 'Ada' } as never);
      await em.flush();
      return [order.id];
    },
    rows: { order: 1 },
  },
  '`insert` with `withKeys`': {
    run: async () => {
      const [row] = await withKeys('order', [{ customer: 'Ada' }]);
      return [await fork().insert(Order, row as never)];
    },
    rows: { order: 1 },
  },
  '`insertMany` with `withKeys`': {
    run: async () => {
      const rows = await withKeys('order', [{ customer: 'Ada' }, { customer: 'Bob' }]);
      await fork().insertMany(Order, rows as never[]);
      return rows.map(({ id }) => id);
    },
    rows: { order: 2 },
  },
  '`insert` without a key': {
    run: async () => [await fork().insert(Order, { customer: 'Ada' } as never)],
    rows: {},
  },
  '`insertMany` without keys': {
    run: () => fork().insertMany(Order, [{ customer: 'Ada' }, { customer: 'Bob' }] as never[]),
    rows: {},
  },
  '`upsert` without a key': {
    run: async () => [(await fork().upsert(Order, { customer: 'Ada' } as never)).id],
    rows: {},
  },
  '`upsertMany` without keys': {
    run: async () =>
      (await fork().upsertMany(Order, [{ customer: 'Ada' }, { customer: 'Bob' }] as never[])).map(({ id }) => id),
    rows: {},
  },
  '`upsert` without a key, stored row': {
    run: async () => [(await fork().upsert(Order, { customer: 'stored' } as never)).id],
    rows: { order: 1 },
    stored: insertStored('order'),
  },
  'find, then `persist`, stored row': {
    run: async () => {
      const em = fork();
      const order = (await em.findOne(Order, { customer: 'stored' })) ?? new Order('stored');
      order.customer = 'changed';
      await em.persist(order).flush();
      return [order.id];
    },
    rows: { order: 1 },
    stored: insertStored('order'),
  },
  'query builder without a key': {
    run: async () => {
      await fork()
        .createQueryBuilder(Order)
        .insert({ customer: 'Ada' } as never)
        .execute();
      return undefined;
    },
    rows: {},
  },
  'SQL without a key': {
    run: async () => {
      await fork()
        .getConnection()
        .execute(`insert into ${database.kind === 'mariadb' ? '`order`' : '"order"'} (customer) values ('Ada')`);
      return undefined;
    },
    rows: {},
  },
});
