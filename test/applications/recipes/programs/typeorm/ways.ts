import { dataSource } from './connection.js';
import { insertStored, tryWays } from './harness.js';
import { Line, Order, Ticket, ticketIds } from './recipe.js';

dataSource.setOptions({ entities: [Order, Line, Ticket] });
await dataSource.initialize();
const orders = dataSource.getRepository(Order);
const lines = dataSource.getRepository(Line);
const created = (customer: string, articles: string[] = []): Order =>
  orders.create({ customer, lines: articles.map((article) => lines.create({ article })) });
const builder = () => orders.createQueryBuilder().insert();
const keyOf = ({ id }: { id?: unknown }): unknown => id;
const table = dataSource.driver.escape('order');

await tryWays(['order', 'line', 'ticket'], {
  '`save`': { run: async () => [(await orders.save({ customer: 'Ada' })).id], rows: { order: 1 } },
  '`save` of several': {
    run: async () => (await orders.save([created('Ada'), created('Bob')])).map(keyOf),
    rows: { order: 2 },
  },
  '`save` with a cascade': {
    run: async () => {
      const order = await orders.save(created('Ada', ['pen', 'ink']));
      return [order.id, ...order.lines.map(keyOf)];
    },
    rows: { order: 1, line: 2 },
  },
  '`insert`': {
    run: async () => (await orders.insert([{ customer: 'Ada' }, { customer: 'Bob' }])).identifiers.map(keyOf),
    rows: { order: 2 },
  },
  'query builder': {
    run: async () =>
      (
        await builder()
          .values([{ customer: 'Ada' }, { customer: 'Bob' }])
          .execute()
      ).identifiers.map(keyOf),
    rows: { order: 2 },
  },
  'query builder, `orIgnore`, stored row': {
    run: async () => {
      await builder()
        .values([{ customer: 'stored' }, { customer: 'Ada' }])
        .orIgnore()
        .execute();
      return undefined;
    },
    rows: { order: 2 },
    stored: insertStored('order'),
  },
  '`upsert`, new row': {
    run: async () => {
      await orders.upsert({ customer: 'Ada' }, ['customer']);
      return undefined;
    },
    rows: { order: 1 },
  },
  '`upsert`, stored row': {
    run: async () => {
      await orders.upsert([{ customer: 'stored' }, { customer: 'Ada' }], ['customer']);
      return undefined;
    },
    rows: { order: 2 },
    stored: insertStored('order'),
  },
  '`orUpdate` of the key': {
    run: async () => {
      await builder().values({ customer: 'stored' }).orUpdate(['id'], ['customer']).execute();
      return undefined;
    },
    rows: { order: 1 },
    stored: insertStored('order'),
  },
  'key with a prefix': {
    run: async () => {
      const tickets = dataSource.getRepository(Ticket);
      const first = await tickets.save({});
      const second = await tickets.save({ replaces: first.id });
      const found = await tickets.findOneByOrFail({ replaces: first.id });
      if (found.id !== second.id) throw new Error(`${found.id} is not ${second.id}`);
      return [first.id, second.id].map((id) => ticketIds.parse(id));
    },
    rows: { ticket: 2 },
  },
  '`callListeners(false)`': {
    run: async () => {
      await builder().values({ customer: 'Ada' }).callListeners(false).execute();
      return undefined;
    },
    rows: {},
  },
  'SQL without a key': {
    run: async () => {
      await dataSource.query(`INSERT INTO ${table} (customer) VALUES ('Ada')`);
      return undefined;
    },
    rows: {},
  },
});
