import { createTables, database, ids, insertStored, tryWays } from './harness.js';
import { api, orderIds, prisma } from './recipe.js';

const { kind } = database;
await createTables('Order', 'Line', 'orderId');

const lines = [{ article: 'pen' }, { article: 'ink' }];
const select = { id: true, lines: { select: { id: true } } };
const keysOf = (order: { id: bigint; lines: { id: bigint }[] }): bigint[] => [
  order.id,
  ...order.lines.map(({ id }) => id),
];

await tryWays(['Order', 'Line'], {
  '`create`': { run: async () => [(await prisma.order.create({ data: { customer: 'Ada' } })).id], rows: { Order: 1 } },
  '`create` with a key': {
    run: async () => {
      const id = await ids.nextId('order');
      return [(await prisma.order.create({ data: { id, customer: 'Ada' } })).id];
    },
    rows: { Order: 1 },
  },
  '`create` with the key `0n`': {
    run: async () => [(await prisma.order.create({ data: { id: 0n, customer: 'Ada' } })).id],
    rows: {},
  },
  '`createMany`': {
    run: async () => {
      await prisma.order.createMany({ data: [{ customer: 'Ada' }, { customer: 'Bob' }] });
      return undefined;
    },
    rows: { Order: 2 },
  },
  '`createMany` with `skipDuplicates`, stored row': {
    run: async () => {
      // Prisma does not generate the option for SQLite.
      const options = { data: [{ customer: 'stored' }, { customer: 'Ada' }], skipDuplicates: true };
      await prisma.order.createMany(options as { data: { customer: string }[] });
      return undefined;
    },
    rows: { Order: 2 },
    stored: insertStored('Order'),
  },
  '`createManyAndReturn`': {
    run: async () => {
      // Prisma does not generate it for MySQL.
      const rows = await (
        prisma.order as unknown as { createManyAndReturn(o: object): Promise<{ id: bigint }[]> }
      ).createManyAndReturn({ data: [{ customer: 'Ada' }, { customer: 'Bob' }] });
      return rows.map(({ id }) => id);
    },
    rows: { Order: 2 },
  },
  '`upsert`, new row': {
    run: async () => [
      (await prisma.order.upsert({ where: { customer: 'Ada' }, create: { customer: 'Ada' }, update: {} })).id,
    ],
    rows: { Order: 1 },
  },
  '`upsert`, stored row': {
    run: async () => [
      (
        await prisma.order.upsert({
          where: { customer: 'stored' },
          create: { customer: 'stored' },
          update: { customer: 'changed' },
        })
      ).id,
    ],
    rows: { Order: 1 },
    stored: insertStored('Order'),
  },
  'nested `create`': {
    run: async () => keysOf(await prisma.order.create({ data: { customer: 'Ada', lines: { create: lines } }, select })),
    rows: { Order: 1, Line: 2 },
  },
  'nested `createMany`': {
    run: async () =>
      keysOf(await prisma.order.create({ data: { customer: 'Ada', lines: { createMany: { data: lines } } }, select })),
    rows: { Order: 1, Line: 2 },
  },
  'nested `connectOrCreate`': {
    run: async () => {
      const order = { connectOrCreate: { where: { customer: 'Ada' }, create: { customer: 'Ada' } } };
      const line = await prisma.line.create({ data: { article: 'pen', order } });
      return [line.id, line.orderId];
    },
    rows: { Order: 1, Line: 1 },
  },
  'nested in `update`': {
    run: async () => {
      const { id } = await prisma.order.create({ data: { customer: 'Ada' } });
      return keysOf(await prisma.order.update({ where: { id }, data: { lines: { create: lines } }, select }));
    },
    rows: { Order: 1, Line: 2 },
  },
  'nested in `upsert`': {
    run: async () =>
      keysOf(
        await prisma.order.upsert({
          where: { customer: 'stored' },
          create: { customer: 'stored' },
          update: { lines: { upsert: { where: { id: 1n }, create: { article: 'pen' }, update: {} } } },
          select,
        }),
      ).slice(1),
    rows: { Order: 1, Line: 1 },
    stored: insertStored('Order'),
  },
  'batch `$transaction`': {
    run: async () => {
      const created = await prisma.$transaction([
        prisma.order.create({ data: { customer: 'Ada' } }),
        prisma.order.create({ data: { customer: 'Bob' } }),
      ]);
      return created.map(({ id }) => id);
    },
    rows: { Order: 2 },
  },
  'interactive `$transaction`': {
    run: () =>
      prisma.$transaction(async (transaction) => [(await transaction.order.create({ data: { customer: 'Ada' } })).id]),
    rows: { Order: 1 },
  },
  'key with a prefix': {
    run: async () => {
      const { id } = await api.order.create({ data: { customer: 'Ada' } });
      const typed: `ord_${string}` = id;
      const {
        lines: [line],
      } = await api.order.update({
        where: { id: orderIds.parse(typed) },
        data: { lines: { create: [{ article: 'pen' }] } },
        include: { lines: true },
      });
      if (line?.orderId !== id) throw new Error(`${String(line?.orderId)} is not ${id}`);
      return [orderIds.parse(typed), line.id];
    },
    rows: { Order: 1, Line: 1 },
  },
  '`$executeRaw` without a key': {
    run: async () => {
      await (kind === 'mariadb'
        ? prisma.$executeRaw`INSERT INTO \`Order\` (customer) VALUES ('Ada')`
        : prisma.$executeRaw`INSERT INTO "Order" (customer) VALUES ('Ada')`);
      return undefined;
    },
    rows: {},
  },
});
