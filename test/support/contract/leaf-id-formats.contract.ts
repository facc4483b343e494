import 'reflect-metadata';
import { Column, type DataSource, Entity, In, ManyToOne, OneToMany, type Repository } from 'typeorm';
import { PrefixedFormat, RadixFormat } from '@leaf-ids/core';
import { idTransformer, LeafId, LeafIdSubscriber, SnowflakeId } from '@leaf-ids/orm';
import { RecordingIdService } from '../fakes/recording-id-service';
import { type OrmDatabase, OrmDatabases } from '../servers/orm-databases';

const orderIds = new PrefixedFormat('ord', new RadixFormat({ base: 10 }));
const lineIds = new PrefixedFormat('lin', new RadixFormat({ base: 62 }));
type OrderId = ReturnType<typeof orderIds.format>;

@Entity()
class Order {
  @LeafId('order', { as: orderIds })
  id!: OrderId;

  @Column({ unique: true, length: 50 })
  customer!: string;

  @Column({ type: 'bigint', nullable: true, transformer: idTransformer(orderIds) })
  replaces!: OrderId | null;

  @OneToMany(() => Line, (line) => line.order, { cascade: true })
  lines!: Line[];
}

@Entity()
class Line {
  @SnowflakeId({ as: lineIds })
  id!: `lin_${string}`;

  @ManyToOne(() => Order, (order) => order.lines)
  order!: Order;
}

/** Keys whose property contains a text and whose column contains a number, on each of these databases. */
export function formatsContract(names: readonly OrmDatabase[]): void {
  let databases: OrmDatabases;

  beforeAll(async () => (databases = await OrmDatabases.start(names)));
  afterAll(() => databases.stop());

  describe.each(names)('keys with a prefix on %s', (database) => {
    let dataSource: DataSource;
    let orders: Repository<Order>;

    beforeEach(async () => {
      dataSource = await databases.open(database, [Order, Line]);
      new LeafIdSubscriber(dataSource, new RecordingIdService());
      orders = dataSource.getRepository(Order);
      await orders.save([
        orders.create({ customer: 'a', lines: [new Line(), new Line()] }),
        orders.create({ customer: 'b', replaces: 'ord_1', lines: [new Line()] }),
      ]);
    });
    afterEach(() => dataSource.destroy());

    it('are numbers in the rows', async () => {
      const rows = await dataSource.query<{ id: unknown }[]>('SELECT id FROM line ORDER BY id');
      expect(rows.map(({ id }) => String(id))).toEqual([1n, 2n, 3n].map((n) => String(2n ** 60n + n)));
      const found = await orders.find({ order: { id: 'ASC' } });
      expect(found.map(({ id, replaces }) => [id, replaces])).toEqual([
        ['ord_1', null],
        ['ord_2', 'ord_1'],
      ]);
    });

    it('find rows, their relations and pages', async () => {
      const found = await orders.findOneOrFail({ where: { id: 'ord_1' }, relations: { lines: true } });
      expect(found.lines.map(({ id }) => id).sort()).toEqual([1n, 2n].map((n) => lineIds.format(2n ** 60n + n)));
      const lines = dataSource.getRepository(Line);
      expect(await lines.countBy({ order: { id: 'ord_2' } })).toBe(1);
      expect(await orders.countBy({ id: In(['ord_1', 'ord_2', 'ord_3']) })).toBe(2);
      expect(await orders.countBy({ replaces: 'ord_1' })).toBe(1);
      const [page, count] = await orders.findAndCount({
        where: { id: In(['ord_1', 'ord_2']) },
        relations: { lines: true },
        order: { id: 'DESC' },
        take: 1,
      });
      expect([page.map(({ id }) => id), count]).toEqual([['ord_2'], 2]);
    });

    it('refuse the text of another type', async () => {
      const invalid = { code: 'LEAF_ID_INVALID' };
      await expect(orders.findOneBy({ id: lineIds.format(1n) as never })).rejects.toMatchObject(invalid);
      await expect(orders.findOneBy({ id: '1' as never })).rejects.toMatchObject(invalid);
      await expect(orders.save({ id: 'lin_1' as never, customer: 'c' })).rejects.toMatchObject(invalid);
      expect(await orders.count()).toBe(2);
    });

    it('stay the same when rows are saved again, inserted with a key, upserted or removed', async () => {
      const [first, second] = await orders.find({ order: { id: 'ASC' }, relations: { lines: true } });
      await orders.save(Object.assign(first!, { customer: 'changed', lines: [...first!.lines, new Line()] }));
      await orders.insert({ id: 'ord_50', customer: 'c' });
      await orders.upsert({ customer: 'c', replaces: 'ord_2' }, ['customer']);
      await dataSource.getRepository(Line).remove(second!.lines);
      await orders.remove(second!);
      const found = await orders.find({ order: { id: 'ASC' }, relations: { lines: true } });
      expect(found.map(({ id, customer, replaces, lines }) => [id, customer, replaces, lines.length])).toEqual([
        ['ord_1', 'changed', null, 3],
        ['ord_50', 'c', 'ord_2', 0],
      ]);
    });
  });
}
