import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Column, CreateDateColumn, type DataSource, Entity, type Repository } from 'typeorm';
import { LeafId, LeafIdSubscriber } from '@leaf-ids/orm';
import { RecordingIdService } from '../fakes/recording-id-service';
import { type OrmDatabase, OrmDatabases } from '../servers/orm-databases';

@Entity()
class User {
  @LeafId('user', { name: 'user_id' })
  id!: string;

  @Column({ unique: true, length: 50 })
  email!: string;

  @Column()
  name!: string;
}

@Entity()
class Visit {
  @LeafId('visit')
  id!: bigint;

  @Column({ unique: true, length: 50 })
  page!: string;

  @CreateDateColumn()
  at!: Date;
}

@Entity()
class Note {
  @LeafId('note')
  id!: string;

  @Column()
  text!: string;
}

const manifest = join(dirname(require.resolve('typeorm')), 'package.json');
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
/** TypeORM 0.3 also overwrites columns with `update: false`, which Leaf refuses for a key that the caller sets. */
const overwritesSetKeys = version.startsWith('0.');
/** `upsert()` of TypeORM 0.3.20 has no option `returning`. */
const upsertReturns = version !== '0.3.20';

/** What happens to keys when rows are inserted or updated, on each of these databases. */
export function upsertContract(names: readonly OrmDatabase[]): void {
  let databases: OrmDatabases;

  beforeAll(async () => (databases = await OrmDatabases.start(names)));
  afterAll(() => databases.stop());

  describe.each(names)('stored keys on %s', (database) => {
    const returns = database === 'MariaDB returning' || database === 'PostgreSQL';
    const countsAnyConflict = database === 'MariaDB' || database === 'MariaDB returning';
    let dataSource: DataSource;
    let users: Repository<User>;

    beforeEach(async () => {
      dataSource = await databases.open(database, [User, Visit, Note]);
      new LeafIdSubscriber(dataSource, new RecordingIdService());
      users = dataSource.getRepository(User);
      await users.save({ email: 'a@x', name: 'first' });
    });
    afterEach(() => dataSource.destroy());

    const rows = async (): Promise<string[]> => {
      const found = await users.find({ order: { email: 'ASC' } });
      return found.map(({ id, email, name }) => `${id} ${email} ${name}`);
    };

    it('survive an upsert that finds its row, whose key nobody is told wrongly', async () => {
      const user = users.create({ email: 'a@x', name: 'second' });
      const { identifiers } = await users.upsert(user, ['email']);
      expect([user.id, identifiers[0]]).toEqual([undefined, undefined]);
      user.name = 'third';
      await users.upsert(user, ['email']);
      const withKey = users.upsert({ id: '77', email: 'a@x', name: 'fourth' }, ['email']);
      if (overwritesSetKeys) await expect(withKey).rejects.toMatchObject({ code: 'LEAF_REQUEST_INVALID' });
      else await withKey;
      expect(await rows()).toEqual([`1 a@x ${overwritesSetKeys ? 'third' : 'fourth'}`]);
    });

    it('are those of the rows when some are new and some have a key', async () => {
      const upsert = users.upsert([{ email: 'a@x', name: 'second' }, { email: 'b@x', name: 'new' }, { id: '50', email: 'c@x', name: 'set' }], ['email']); // prettier-ignore
      if (overwritesSetKeys) {
        await expect(upsert).rejects.toMatchObject({ code: 'LEAF_REQUEST_INVALID' });
        expect(await rows()).toEqual(['1 a@x first']);
        return;
      }
      await upsert;
      expect(await rows()).toEqual(['1 a@x second', '3 b@x new', '50 c@x set']);
    });

    it('are not overwritten by a query builder that names them', async () => {
      const upsert = users.createQueryBuilder().insert().values({ email: 'a@x', name: 'second' });
      const refused = upsert.orUpdate(['user_id', 'name'], ['email']).execute();
      await expect(refused).rejects.toMatchObject({ code: 'LEAF_REQUEST_INVALID' });
      await users.createQueryBuilder().insert().values({ email: 'a@x', name: 'third' }).orUpdate(['name'], ['email']).execute(); // prettier-ignore
      expect(await rows()).toEqual(['1 a@x third']);
    });

    it('may be what an upsert looks for, if no other row can be found', async () => {
      const notes = dataSource.getRepository(Note);
      await notes.upsert({ id: '5', text: 'first' }, ['id']);
      await notes.upsert({ id: '5', text: 'second' }, ['id']);
      expect(await notes.find()).toEqual([{ id: '5', text: 'second' }]);
      const same = { id: '1', email: 'a@x', name: 'second' };
      if (countsAnyConflict && overwritesSetKeys) await users.save(same);
      else await users.upsert(same, countsAnyConflict ? ['email'] : ['id']);
      await expect(users.upsert({ id: '77', email: 'a@x', name: 'third' }, ['id'])).rejects.toMatchObject(
        countsAnyConflict ? { code: 'LEAF_REQUEST_INVALID' } : { name: 'QueryFailedError' },
      );
      expect(await rows()).toEqual(['1 a@x second']);
    });

    it('survive inserts that ignore conflicts, and rows that are ignored have none', async () => {
      const values = [users.create({ email: 'a@x', name: 'ignored' }), users.create({ email: 'b@x', name: 'new' })];
      const { identifiers } = await users.createQueryBuilder().insert().values(values).orIgnore().execute();
      expect(identifiers).toEqual([undefined, undefined]);
      expect(values.map(({ id }) => id)).toEqual([undefined, undefined]);
      expect(await rows()).toEqual(['1 a@x first', '3 b@x new']);
    });

    it('are written by no update', async () => {
      await users.update({ email: 'a@x' }, { id: '77', name: 'second' });
      await users.createQueryBuilder().update().set({ id: '77', name: 'third' }).where({ id: '1' }).execute();
      expect(await rows()).toEqual(['1 a@x third']);
      const user = await users.findOneByOrFail({ id: '1' });
      user.id = '77';
      await expect(users.save(user)).rejects.toThrow(/a@x|email|UNIQUE|unique/);
      user.email = 'b@x';
      await users.save(user);
      expect(await rows()).toEqual(['1 a@x third', '77 b@x third']);
    });

    it('are not known where the database fills columns that would be read by them', async () => {
      const visits = dataSource.getRepository(Visit);
      const { id } = await visits.save({ page: '/a' });
      const both = [visits.create({ page: '/a' }), visits.create({ page: '/b' })];
      const upsert = visits.upsert(both, ['page']);
      if (!returns) {
        await expect(upsert).rejects.toMatchObject({ code: 'LEAF_REQUEST_INVALID' });
        // Nor by trying again: the keys of the refused ones are not kept.
        await expect(visits.upsert(both, ['page'])).rejects.toMatchObject({ code: 'LEAF_REQUEST_INVALID' });
        expect(await visits.find()).toMatchObject([{ id, page: '/a' }]);
        return;
      }
      await upsert;
      expect(both.map((visit) => visit.id)).toEqual([undefined, undefined]);
      const stored = await visits.find({ order: { page: 'ASC' } });
      expect(stored.map((visit) => visit.id)).toEqual([id, 3n]);
    });

    it('come back from a database that returns them, and never to another row', async () => {
      if (!upsertReturns) return;
      if (!returns) {
        // TypeORM refuses it itself.
        await expect(users.upsert({ email: 'a@x' }, { conflictPaths: ['email'], returning: ['id'] })).rejects.toThrow('RETURNING'); // prettier-ignore
        return;
      }
      const both = [users.create({ email: 'a@x', name: 'second' }), users.create({ email: 'b@x', name: 'new' })];
      const { identifiers } = await users.upsert(both, { conflictPaths: ['email'], returning: ['id'] });
      expect(identifiers).toEqual([{ id: '1' }, { id: '3' }]);
      expect(both.map(({ id }) => id)).toEqual(['1', '3']);
      const ignoring = (values: Partial<User>[]): Promise<unknown> =>
        users.createQueryBuilder().insert().values(values).orIgnore().returning(['id']).execute();
      // The second row alone would come back, and be taken for the first.
      const refused = ignoring([{ email: 'a@x', name: 'ignored' }, { email: 'c@x', name: 'new' }]); // prettier-ignore
      await expect(refused).rejects.toMatchObject({ code: 'LEAF_REQUEST_INVALID' });
      if (database === 'PostgreSQL') {
        const options = { conflictPaths: ['email'], returning: ['id'], skipUpdateIfNoValuesChanged: true };
        const unchanged = [{ email: 'a@x', name: 'second' }, { email: 'b@x', name: 'third' }]; // prettier-ignore
        await expect(users.upsert(unchanged, options)).rejects.toMatchObject({ code: 'LEAF_REQUEST_INVALID' });
      }
      const [old, fresh] = [
        users.create({ email: 'a@x', name: 'ignored' }),
        users.create({ email: 'c@x', name: 'new' }),
      ];
      await ignoring([old]);
      await ignoring([fresh]);
      expect([old.id, await rows()]).toEqual([undefined, ['1 a@x second', '3 b@x new', `${fresh.id} c@x new`]]);
    });
  });
}
