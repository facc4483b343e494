import { connect } from '../../../../test/support/contract/sql-stores';
import { parseDatabaseUrl } from '../database/database-url';
import { createDatabaseNames } from '../database/create-store';
import type { LeafDataSource } from '../database/leaf-data-source';
import type { Statement } from '../connections/sql-database';
import { aloneFault, type DatabaseNames, type RecordedNames, replaced, rosterFaults, takenOut } from './database-names';

const names = (list: Readonly<Record<string, 'listed' | 'removed' | 'left'>>): RecordedNames =>
  new Map(Object.entries(list));

describe('DatabaseNames', () => {
  let database: LeafDataSource;
  let recorded: DatabaseNames;
  beforeEach(async () => {
    database = await connect(parseDatabaseUrl('sqlite::memory:'));
    recorded = createDatabaseNames(database);
  });
  afterEach(() => database.destroy());

  const statement: Statement = (sql, parameters = []) => database.access.run(sql, parameters);
  const refusal = (name: string): object => ({
    code: 'LEAF_STORE_UNAVAILABLE',
    message: `This database "${name}" was removed with leaf-server remove-database; the other databases have its tags. Remove it from the settings.`,
  });

  it('records names in their order, beside the documents of others', async () => {
    await database.query("INSERT INTO leaf_registry (name, document) VALUES ('workers', '{}'), ('a', '{}')");
    expect(await recorded.list()).toEqual(names({}));
    for (const name of ['b', 'a']) await recorded.add(name);
    expect([...(await recorded.list())]).toEqual([
      ['a', 'listed'],
      ['b', 'listed'],
    ]);
  });

  it('keeps the state of a name that is added again', async () => {
    for (const name of ['a', 'b', 'c']) await recorded.add(name);
    await recorded.mark('a', 'removed');
    await recorded.mark('b', 'left');
    for (const name of ['a', 'b', 'c']) await recorded.add(name);
    expect(await recorded.list()).toEqual(names({ a: 'removed', b: 'left', c: 'listed' }));
    // Other versions read them, too.
    expect(await database.query('SELECT document FROM leaf_registry ORDER BY name')).toEqual(
      ['{"state":"removed"}', '{"state":"left"}', '{}'].map((document) => ({ document })),
    );
    await recorded.mark('b', 'listed');
    expect(await recorded.list()).toEqual(names({ a: 'removed', b: 'listed', c: 'listed' }));
    await recorded.mark('unknown', 'left');
    expect((await recorded.list()).size).toBe(3);
  });

  it('marks a name in the transaction of a caller', async () => {
    await recorded.add('a');
    const undone = database.access.transaction(async (query) => {
      await recorded.mark('a', 'left', query);
      await expect(recorded.assertNotLeft(query, '')).rejects.toMatchObject(refusal('a'));
      throw new Error('undone');
    }, 5000);
    await expect(undone).rejects.toThrow();
    expect(await recorded.list()).toEqual(names({ a: 'listed' }));
  });

  it('refuses changes in a database that was taken out, and in no other', async () => {
    for (const name of ['a', 'b']) await recorded.add(name);
    await recorded.mark('a', 'removed');
    await recorded.assertNotLeft(statement, '');
    await recorded.mark('b', 'left');
    await expect(recorded.assertNotLeft(statement, '')).rejects.toMatchObject(refusal('b'));
  });

  it('locks the names as the caller says', async () => {
    await recorded.add('a');
    await expect(recorded.assertNotLeft(statement, 'FOR UPDATE')).rejects.toThrow();
    await recorded.assertNotLeft(statement, '-- FOR UPDATE');
  });
});

describe('rosterFaults', () => {
  const MISSING =
    'The database "c" has or had tags of this service but is missing in the option segment.database.shards: its tags would restart at 1. Add it again; to remove it, run leaf-server remove-database with a list that contains it.';
  const OUT =
    'The database "c" was removed with leaf-server remove-database; the other databases have its tags. Remove "c" from the option segment.database.shards and from the values of the option segment.database.shards.tags. A new database needs another name.';

  it('finds nothing where all databases have all names, or none yet', () => {
    const none = { takenOut: [], messages: [], replaced: [] };
    const both = names({ a: 'listed', b: 'listed' });
    const lists = new Map([
      ['a', both],
      ['b', both],
    ]);
    expect(rosterFaults(['a', 'b'], lists)).toEqual(none);
    expect(rosterFaults(['a'], new Map([['a', names({})]]))).toEqual(none);
    // A new one, which nobody has on record.
    expect(rosterFaults(['a', 'b', 'c'], new Map([...lists, ['c', names({})]]))).toEqual(none);
  });

  it('names a database that is missing in the configuration, once', () => {
    const all = names({ a: 'listed', b: 'listed', c: 'listed' });
    const lists = new Map([
      ['a', all],
      ['b', all],
    ]);
    expect(rosterFaults(['a', 'b'], lists)).toEqual({ takenOut: [], messages: [MISSING], replaced: [] });
  });

  it('does not miss a database that was taken out, unless another one still has it', () => {
    const without = names({ a: 'listed', c: 'removed' });
    expect(rosterFaults(['a'], new Map([['a', without]]))).toEqual({ takenOut: [], messages: [], replaced: [] });
    const lists = new Map([
      ['a', without],
      ['b', names({ a: 'listed', b: 'listed', c: 'listed' })],
    ]);
    expect(rosterFaults(['a', 'b'], lists).messages).toEqual([MISSING]);
  });

  it.each(['removed', 'left'] as const)('names a configured database that was taken out: %s', (state) => {
    const lists = new Map([['a', names({ a: 'listed', c: state })]]);
    expect(rosterFaults(['a', 'c'], lists)).toEqual({ takenOut: ['c'], messages: [OUT], replaced: [] });
    expect(takenOut('c')).toBe(OUT);
  });

  it('finds a database that lacks its own name, which others have', () => {
    const lists = new Map([
      ['a', names({ a: 'listed', b: 'listed' })],
      ['b', names({})],
    ]);
    expect(rosterFaults(['a', 'b'], lists)).toEqual({ takenOut: [], messages: [], replaced: ['b'] });
    expect(replaced('b')).toBe(
      'The database "b" was replaced by another one: its tags would restart at 1. Correct its URL in the option segment.database.shards, or restore it. To start with an empty database, remove its name from the other databases as described in docs/operations/several-databases.md.',
    );
  });
});

describe('aloneFault', () => {
  it.each([
    ['it always was alone', {}],
    ['all others were taken out', { a: 'listed', b: 'removed', c: 'removed' }],
  ] as const)('allows a database alone when %s', (_, list) => {
    expect(aloneFault(names(list))).toBeUndefined();
  });

  it.each([
    [
      { a: 'listed', b: 'listed', c: 'removed' },
      'This database was one of several (a, b): tags of the others would restart at 1. List all of them in the option segment.database.shards. To remove one, run leaf-server remove-database with a list that contains it.',
    ],
    [{ a: 'listed' }, 'This database was one of several (a): '],
    [{ a: 'listed', b: 'left' }, 'This database "b" was removed with leaf-server remove-database'],
  ] as const)('refuses a database with %j', (list, message) => {
    expect(aloneFault(names(list))).toContain(message);
  });
});
