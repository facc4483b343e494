import { insertStored, tryWays } from './harness.js';
import { Line, Order, sequelize } from './recipe.js';

await sequelize.sync();
const keyOf = (row: { get(name: string): unknown }): unknown => row.get('id');
const lines = [{ article: 'pen' }, { article: 'ink' }];

await tryWays(['orders', 'lines'], {
  '`create`': { run: async () => [keyOf(await Order.create({ customer: 'Ada' }))], rows: { orders: 1 } },
  '`build` and `save`': {
    run: async () => [keyOf(await Order.build({ customer: 'Ada' }).save())],
    rows: { orders: 1 },
  },
  '`save` without validation': {
    run: async () => [keyOf(await Order.build({ customer: 'Ada' }).save({ validate: false }))],
    rows: { orders: 1 },
  },
  '`create` with `include`': {
    run: async () => {
      const order = await Order.create({ customer: 'Ada', lines } as never, { include: [Line] });
      return [keyOf(order), ...(order.get('lines') as Line[]).map(keyOf)];
    },
    rows: { orders: 1, lines: 2 },
  },
  '`bulkCreate`': {
    run: async () => (await Order.bulkCreate([{ customer: 'Ada' }, { customer: 'Bob' }])).map(keyOf),
    rows: { orders: 2 },
  },
  '`bulkCreate` with `include`': {
    run: async () => {
      const orders = await Order.bulkCreate([{ customer: 'Ada', lines }, { customer: 'Bob' }] as never, {
        include: [Line],
      });
      return orders.map(keyOf);
    },
    rows: { orders: 2, lines: 2 },
  },
  '`bulkCreate` with `updateOnDuplicate`, stored row': {
    run: async () => {
      await Order.bulkCreate([{ customer: 'stored' }, { customer: 'Ada' }], {
        updateOnDuplicate: ['customer'],
        conflictAttributes: ['customer'],
      });
      return undefined;
    },
    rows: { orders: 2 },
    stored: insertStored('orders'),
  },
  '`findOrCreate`, new row': {
    run: async () => [keyOf((await Order.findOrCreate({ where: { customer: 'Ada' } }))[0])],
    rows: { orders: 1 },
  },
  '`findOrCreate`, stored row': {
    run: async () => [keyOf((await Order.findOrCreate({ where: { customer: 'stored' } }))[0])],
    rows: { orders: 1 },
    stored: insertStored('orders'),
  },
  '`upsert`': {
    run: async () => {
      await Order.upsert({ customer: 'stored' });
      return undefined;
    },
    rows: { orders: 1 },
    stored: insertStored('orders'),
  },
  '`create` with `hooks: false`': {
    run: async () => [keyOf(await Order.create({ customer: 'Ada' }, { hooks: false }))],
    rows: {},
  },
  'SQL without a key': {
    run: async () => {
      await sequelize.query("INSERT INTO orders (customer) VALUES ('Ada')");
      return undefined;
    },
    rows: {},
  },
});
