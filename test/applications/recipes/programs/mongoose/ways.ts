import { Types } from 'mongoose';
import { tryWays, type Way } from './harness.js';
import { Order } from './recipe.js';

interface Written {
  _id?: unknown;
  customer?: unknown;
}
interface Operation {
  insertOne?: { document: Written };
  updateOne?: Upsert;
}
interface Upsert {
  filter: Written;
  update: { $setOnInsert?: Written };
  upsert?: boolean;
}

const documents: Written[] = [];

/** What MongoDB does with a document: one without `_id` gets an ObjectId. */
function insert(document: Written): void {
  documents.push({ ...document, _id: document._id ?? new Types.ObjectId() });
}

function update({ filter, update: changes, upsert }: Upsert): null {
  const found = documents.some(({ customer }) => customer === filter.customer);
  if (!found && upsert === true) insert({ ...filter, ...changes.$setOnInsert });
  return null;
}

// There is no MongoDB server: these methods of the driver take the documents that Mongoose would send.
const done = {
  acknowledged: true,
  insertedCount: 0,
  modifiedCount: 0,
  upsertedCount: 0,
  matchedCount: 0,
  deletedCount: 0,
};
Object.assign(Order.collection, {
  insertOne: async (document: Written) => (insert(document), { acknowledged: true, insertedId: document._id }),
  insertMany: async (many: Written[]) => (many.forEach(insert), { ...done, insertedCount: many.length }),
  updateOne: async (filter: Written, changes: Upsert['update'], options: { upsert?: boolean }) => (
    update({ filter, update: changes, ...options }),
    done
  ),
  findOneAndUpdate: async (filter: Written, changes: Upsert['update'], options: { upsert?: boolean }) =>
    update({ filter, update: changes, ...options }),
  bulkWrite: async (operations: Operation[]) => {
    for (const { insertOne, updateOne } of operations) {
      if (insertOne !== undefined) insert(insertOne.document);
      if (updateOne !== undefined) update(updateOne);
    }
    const insertedCount = operations.filter(({ insertOne }) => insertOne !== undefined).length;
    return { ...done, insertedCount, mongoose: {} };
  },
});

const keyOf = ({ _id }: { _id: unknown }): unknown => _id;
const two = (): Written[] => [{ customer: 'Ada' }, { customer: 'Bob' }];
const nothing = async (made: PromiseLike<unknown>): Promise<undefined> => {
  await made;
  return undefined;
};
const rows = (count: number): Way['rows'] => ({ orders: count });

await tryWays(
  ['orders'],
  {
    '`create`': { run: async () => [keyOf(await Order.create({ customer: 'Ada' }))], rows: rows(1) },
    '`create` of several': { run: async () => (await Order.create(two() as never[])).map(keyOf), rows: rows(2) },
    '`save`': { run: async () => [keyOf(await new Order({ customer: 'Ada' }).save())], rows: rows(1) },
    '`save` without validation': {
      run: async () => [keyOf(await new Order({ customer: 'Ada' }).save({ validateBeforeSave: false }))],
      rows: rows(1),
    },
    '`insertMany`': { run: async () => (await Order.insertMany(two())).map(keyOf), rows: rows(2) },
    '`insertMany` with `lean`': {
      run: () => nothing(Order.insertMany(two(), { lean: true })),
      rows: rows(2),
    },
    '`bulkSave`': {
      run: () => nothing(Order.bulkSave(two().map((one) => new Order(one)))),
      rows: rows(2),
    },
    '`bulkWrite` with `insertOne`': {
      run: () => nothing(Order.bulkWrite(two().map((document) => ({ insertOne: { document } })) as never)),
      rows: rows(2),
    },
    '`bulkWrite` with an upsert': {
      run: () =>
        nothing(
          Order.bulkWrite([
            { updateOne: { filter: { customer: 'Ada' }, update: { $set: { customer: 'Ada' } }, upsert: true } },
          ]),
        ),
      rows: rows(1),
    },
    '`updateOne` with `upsert`': {
      run: () => nothing(Order.updateOne({ customer: 'Ada' }, { customer: 'Ada' }, { upsert: true })),
      rows: rows(1),
    },
    '`findOneAndUpdate` with `upsert`': {
      run: () => nothing(Order.findOneAndUpdate({ customer: 'Ada' }, { customer: 'Ada' }, { upsert: true })),
      rows: rows(1),
    },
    '`replaceOne` with `upsert`': {
      run: () => nothing(Order.replaceOne({ customer: 'Ada' }, { customer: 'Ada' }, { upsert: true })),
      rows: {},
    },
  },
  {
    clear: async () => (documents.length = 0),
    keysOf: async () => documents.map(keyOf as (one: Written) => unknown),
  },
);
