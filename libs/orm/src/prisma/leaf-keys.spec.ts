import { PrefixedFormat, RadixFormat } from '@leaf-ids/core';
import { formattedId, leafKeys, type PrismaModels } from '@leaf-ids/orm/prisma';
import { RecordingIdService } from '../../../../test/support/fakes/recording-id-service';

const MODELS: PrismaModels = {
  Order: { tag: 'order', relations: { lines: 'Line', customer: 'Customer' } },
  Line: { tag: 'item', field: 'lineId', relations: { order: 'Order' } },
  Customer: { snowflake: true },
  Log: { relations: { orders: 'Order' } },
};

describe('leafKeys', () => {
  let ids: RecordingIdService;
  const passed: unknown[] = [];

  beforeEach(() => {
    ids = new RecordingIdService();
    passed.length = 0;
  });

  /** What the extension passes on to Prisma. */
  async function run(model: string, operation: string, args: unknown): Promise<unknown> {
    const query = (changed: unknown): Promise<unknown> => Promise.resolve(passed.push(changed));
    await leafKeys(ids, MODELS).query.$allModels.$allOperations({ model, operation, args, query });
    return passed.at(-1);
  }

  it('fills the rows of each model with one call, in their order', async () => {
    const lines = [{ article: 'a' }, { lineId: 7n }, { article: 'b' }];
    const args = await run('Order', 'createMany', {
      data: [{ lines: { create: lines } }, { customer: { create: {} } }],
    });
    expect(args).toEqual({
      data: [
        { id: 1n, lines: { create: [{ lineId: 1n, article: 'a' }, { lineId: 7n }, { lineId: 2n, article: 'b' }] } },
        { id: 2n, customer: { create: { id: 2n ** 60n + 1n } } },
      ],
    });
    expect(ids.calls).toEqual([
      { tag: 'order', count: 2 },
      { tag: 'item', count: 2 },
      { tag: undefined, count: 1 },
    ]);
  });

  it.each([
    ['create', { lines: { create: {} } }, { lines: { create: { lineId: 1n } } }],
    ['createMany', { lines: { createMany: { data: [{}] } } }, { lines: { createMany: { data: [{ lineId: 1n }] } } }],
    [
      'connectOrCreate',
      { lines: { connectOrCreate: [{ create: {} }] } },
      { lines: { connectOrCreate: [{ create: { lineId: 1n } }] } },
    ],
    [
      'upsert',
      { lines: { upsert: { create: {}, update: { order: { create: {} } } } } },
      { lines: { upsert: { create: { lineId: 1n }, update: { order: { create: { id: 1n } } } } } },
    ],
    [
      'update of a list',
      { lines: { update: { data: { order: { create: {} } } } } },
      { lines: { update: { data: { order: { create: { id: 1n } } } } } },
    ],
    [
      'update of one',
      { customer: { update: { name: 'a' } }, lines: { update: { order: { create: {} } } } },
      { customer: { update: { name: 'a' } }, lines: { update: { order: { create: { id: 1n } } } } },
    ],
    [
      'update of one with a field of that name',
      { lines: { update: { data: { note: 'json' }, order: { create: {} } } } },
      { lines: { update: { data: { note: 'json' }, order: { create: { id: 1n } } } } },
    ],
  ])('fills nested writes: %s', async (_, data, filled) => {
    expect(await run('Order', 'update', { data })).toEqual({ data: filled });
  });

  it('fills only the row that an upsert may create', async () => {
    expect(await run('Order', 'upsert', { create: {}, update: {} })).toEqual({ create: { id: 1n }, update: {} });
  });

  it('fills the nested rows of a model without a key', async () => {
    const args = await run('Log', 'create', { data: { orders: { create: [{}] } } });
    expect(args).toEqual({ data: { orders: { create: [{ id: 1n }] } } });
  });

  it('leaves other operations and models as they are', async () => {
    for (const [model, operation, args] of [
      ['Order', 'findMany', { where: { lines: { some: {} } } }],
      ['Order', 'delete', { where: { id: 1n } }],
      ['Order', 'findMany', undefined],
      ['Unlisted', 'create', { data: {} }],
    ] as const) {
      expect(await run(model, operation, args)).toEqual(args);
    }
    expect(ids.calls).toStrictEqual([]);
  });

  it('refuses the key 0, and writes nothing without IDs', async () => {
    await expect(run('Order', 'create', { data: { id: 0n } })).rejects.toMatchObject({ code: 'LEAF_REQUEST_INVALID' });
    const unknown = leafKeys(ids, { Order: { tag: 'unknown' } }).query.$allModels;
    const query = (): Promise<unknown> => Promise.resolve(passed.push('called'));
    await expect(
      unknown.$allOperations({ model: 'Order', operation: 'create', args: { data: {} }, query }),
    ).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    expect(passed).toStrictEqual([]);
  });

  it.each<[string, PrismaModels]>([
    ['LEAF_TAG_INVALID', { Order: { tag: 'no tag' } }],
    ['LEAF_CONFIG_INVALID', { Order: { tag: 'order', snowflake: true } }],
    ['LEAF_CONFIG_INVALID', { Order: { tag: 'order', relations: { lines: 'Line' } } }],
  ])('refuses models with %s', (code, models) => {
    expect(() => leafKeys(ids, models)).toThrow(expect.objectContaining({ code }));
  });
});

it('formattedId computes the text of an ID', () => {
  const orderIds = new PrefixedFormat('ord', new RadixFormat({ base: 10 }));
  const field = formattedId('orderId', orderIds);
  const text: `ord_${string}` = field.compute({ orderId: 42n });
  expect([field.needs, text]).toEqual([{ orderId: true }, 'ord_42']);
});
