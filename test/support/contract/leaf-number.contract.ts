import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { Column, type DataSource, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { Numbers } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { LeafNumber, LeafNumbers, LeafNumberSubscriber } from '@leaf-ids/orm';
import { openPersistence, type Persistence, type PersistenceModuleOptions } from '@leaf-ids/persistence';
import { clock } from './sql-stores';

@Entity()
export class Invoice {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id: string = randomUUID();

  @Column({ type: 'varchar', length: 20 })
  customer!: string;

  @LeafNumber<Invoice>('invoice', { key: ({ id }) => id })
  number!: string | null;
}

@Entity()
export class Receipt {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', length: 36 })
  uuid: string = randomUUID();

  @Column({ type: 'bigint' })
  soldAt!: number | string;

  @LeafNumber<Receipt>('receipt', { key: ({ uuid }) => uuid, date: ({ soldAt }) => new Date(Number(soldAt)) })
  number!: string | null;
}

export interface OrmFixture {
  readonly dataSource: DataSource;
  /** How Leaf opens the same database. */
  readonly leaf: PersistenceModuleOptions;
}

/** Numbers without gaps in the transactions of an application with TypeORM. */
export function leafNumberContract(name: string, isFile: boolean, open: () => Promise<OrmFixture>): void {
  describe(`@LeafNumber on ${name}`, () => {
    let dataSource: DataSource;
    let persistence: Persistence;
    let numbers: Numbers;
    let leaf: LeafNumbers;

    beforeEach(async () => {
      const fixture = await open();
      ({ dataSource } = fixture);
      persistence = (await openPersistence(fixture.leaf))!;
      await persistence.tags.create({ tag: 'invoice', step: 1, order: 'gapless', pattern: 'INV-{seq:4}' });
      await persistence.tags.create({ tag: 'receipt', step: 1, order: 'gapless', reset: 'daily' });
      numbers = new Numbers(persistence.numbers, clock, systemRandom, { waitMs: 20_000 });
      await numbers.watch();
      leaf = new LeafNumbers(numbers, 'shop');
      new LeafNumberSubscriber(dataSource, leaf);
    });
    afterEach(async () => {
      await persistence.onApplicationShutdown();
      await dataSource.destroy();
    });

    function invoice(customer = 'a'): Invoice {
      return Object.assign(new Invoice(), { customer });
    }

    async function stored(): Promise<(string | null)[]> {
      const rows = await dataSource.getRepository(Invoice).find({ order: { number: 'ASC' } });
      return rows.map(({ number }) => number);
    }

    async function expectWhole(last: number): Promise<void> {
      const audit = await numbers.audit('invoice');
      expect(audit).toMatchObject({ fault: undefined, contiguous: true, chronological: true });
      expect(audit.last ?? 0n).toBe(BigInt(last));
    }

    it('is drawn at the commit, with the row, by save and in a transaction', async () => {
      const single = await dataSource.getRepository(Invoice).save(invoice());
      expect(single.number).toBe('INV-0001');
      const [first, second] = [invoice('b'), invoice('c')];
      await dataSource.transaction(async (manager) => {
        await manager.save([first, second]);
        expect(first.number ?? null).toBeNull();
        expect(await manager.findOneByOrFail(Invoice, { id: first.id })).toMatchObject({ number: null });
      });
      expect([first.number, second.number]).toEqual(['INV-0002', 'INV-0003']);
      expect(await stored()).toEqual(['INV-0001', 'INV-0002', 'INV-0003']);
      expect(await numbers.find('invoice', first.id)).toMatchObject({ number: 2n, issuedBy: 'shop' });
      single.customer = 'z';
      await dataSource.getRepository(Invoice).save(single);
      await expectWhole(3);
    });

    it('goes with the row when the transaction is rolled back, whatever failed', async () => {
      const failing = invoice();
      const fault = new Error('the printer is on fire');
      const fail = (): Promise<never> => Promise.reject(fault);
      await expect(dataSource.transaction((manager) => manager.save(failing).then(fail))).rejects.toBe(fault);
      const late = async (): Promise<void> =>
        dataSource.transaction(async (manager) => {
          await manager.save(failing);
          failing.number = await leaf.next(manager, 'invoice', failing.id);
          expect(failing.number).toBe('INV-0001');
          await fail();
        });
      await expect(late()).rejects.toBe(fault);
      expect(await stored()).toStrictEqual([]);
      expect((await dataSource.getRepository(Invoice).save(invoice())).number).toBe('INV-0001');
      await expectWhole(1);
    });

    it('is not drawn for rows of a savepoint that was rolled back', async () => {
      const [kept, dropped, inner] = [invoice('kept'), invoice('dropped'), invoice('inner')];
      await dataSource.transaction(async (manager) => {
        await manager.save(kept);
        await manager
          .transaction(async (nested) => {
            await nested.save(dropped);
            throw new Error('undo');
          })
          .catch(() => undefined);
        await manager.transaction((nested) => nested.save(inner));
      });
      expect([kept.number, dropped.number ?? null, inner.number]).toEqual(['INV-0001', null, 'INV-0002']);
      expect(await stored()).toEqual(['INV-0001', 'INV-0002']);
      await expectWhole(2);
    });

    // Of an SQLite file, TypeORM has one connection, which a failed commit leaves in its transaction.
    if (!isFile) {
      it('is drawn anew when it is not known whether the commit was carried out', async () => {
        const unsure = invoice();
        const fault = new Error('the connection is gone');
        const runner = dataSource.createQueryRunner();
        await runner.startTransaction();
        await runner.manager.save(unsure);
        const query = runner.query.bind(runner);
        runner.query = ((sql: string, ...rest: unknown[]) =>
          sql === 'COMMIT' ? Promise.reject(fault) : query(sql, ...(rest as []))) as typeof runner.query;
        await expect(runner.commitTransaction()).rejects.toBe(fault);
        expect(unsure.number).toBe('INV-0001');
        runner.query = query;
        await query('ROLLBACK');
        await runner.release();
        expect((await dataSource.getRepository(Invoice).save(invoice())).number).toBe('INV-0001');
        expect((await dataSource.getRepository(Invoice).save(unsure)).number).toBe('INV-0002');
        expect(await stored()).toEqual(['INV-0001', 'INV-0002']);
        await expectWhole(2);
      });
    }

    it('is given to rows that are there alone, and no row loses or changes it', async () => {
      const invoices = dataSource.getRepository(Invoice);
      const [kept, gone] = [await invoices.save(invoice('kept')), invoice('gone')];
      await dataSource.transaction(async (manager) => {
        await manager.save(gone);
        await manager.delete(Invoice, { id: gone.id });
        await manager.upsert(Invoice, { id: kept.id, customer: 'changed' }, ['id']);
      });
      expect(await invoices.findOneByOrFail({ id: kept.id })).toMatchObject({
        customer: 'changed',
        number: 'INV-0001',
      });
      await expectWhole(1);
    });

    it('is refused for a key whose number is void', async () => {
      const torn = invoice();
      await numbers.issue('invoice', [torn.id], 'server');
      await numbers.void('invoice', torn.id, 'server', 'torn');
      const invoices = dataSource.getRepository(Invoice);
      await expect(invoices.save(torn)).rejects.toMatchObject({ code: 'LEAF_NUMBER_SETTLED' });
      expect(await stored()).toStrictEqual([]);
    });

    it('belongs to the period of the document, also with a key that the database generates', async () => {
      const receipts = dataSource.getRepository(Receipt);
      const yesterday = Date.now() - 86_400_000;
      const sold = [Date.now(), yesterday, yesterday].map((soldAt) => Object.assign(new Receipt(), { soldAt }));
      await receipts.save(sold);
      expect(sold.map(({ number }) => number)).toEqual(['1', '1', '2']);
      expect(await numbers.find('receipt', sold[2]!.uuid)).toMatchObject({
        period: new Date(yesterday).toISOString().slice(0, 10),
      });
    });

    it('needs a transaction', async () => {
      const refused = { code: 'LEAF_REQUEST_INVALID' };
      await expect(leaf.next(dataSource.manager, 'invoice', 'a')).rejects.toMatchObject(refused);
      await expect(dataSource.getRepository(Invoice).insert(invoice())).rejects.toMatchObject(refused);
      expect(await stored()).toStrictEqual([]);
    });

    it('is shared with servers, and the same for a key that another transaction has numbered meanwhile', async () => {
      await numbers.issue('invoice', ['elsewhere'], 'server');
      await dataSource.transaction(async (manager) => {
        // What this transaction sees of the tables is from now on.
        await manager.query('SELECT COUNT(*) FROM leaf_number');
        if (!isFile) await numbers.issue('invoice', ['meanwhile'], 'server');
        expect(await leaf.nextAll(manager, 'invoice', ['elsewhere', 'meanwhile', 'here'])).toEqual([
          ...['INV-0001', 'INV-0002', 'INV-0003'],
        ]);
      });
      await expectWhole(3);
    });

    it('has no gap when transactions of the application, rollbacks and servers compete', async () => {
      const count = 24;
      const work: Promise<unknown>[] = [];
      const run = async (index: number): Promise<unknown> => {
        if (index % 3 === 0) return numbers.issue('invoice', [`server ${index}`], 'server');
        const saved = dataSource.transaction(async (manager) => {
          await manager.save(invoice(String(index)));
          if (index % 3 === 1) throw new Error('undo');
        });
        return saved.catch((error: unknown) => expect(error).toMatchObject({ message: 'undo' }));
      };
      for (let index = 0; index < count; index++) {
        const done = run(index);
        work.push(done);
        // TypeORM has one connection for an SQLite file.
        if (isFile) await done;
      }
      await Promise.all(work);
      await expectWhole((count / 3) * 2);
      expect(new Set(await stored()).size).toBe(count / 3);
    });
  });
}
