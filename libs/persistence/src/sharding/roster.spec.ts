import type { RecordedNames } from '../stores/database-names';
import { Roster } from './roster';
import type { Shard } from './shard';

/** A database with the names that it has on record. */
class Database {
  readonly recorded: Map<string, 'listed' | 'removed' | 'left'>;
  isAway = false;
  readonly added: string[] = [];
  reads = 0;

  constructor(
    readonly name: string,
    ...names: string[]
  ) {
    this.recorded = new Map(names.map((each) => [each, 'listed']));
  }

  readonly stores = {
    names: {
      list: (): Promise<RecordedNames> => {
        this.reads++;
        return this.isAway ? Promise.reject(new Error('away')) : Promise.resolve(new Map(this.recorded));
      },
      add: (name: string): Promise<void> => {
        this.added.push(name);
        this.recorded.set(name, 'listed');
        return Promise.resolve();
      },
    },
  };
}

describe('the names of the databases', () => {
  const reported: string[] = [];
  afterEach(() => reported.splice(0));

  function rosterOf(...databases: Database[]): Roster {
    return new Roster(databases as unknown as Shard[], (fault) => reported.push(fault));
  }

  it('are recorded in every database, its own name first', async () => {
    const databases = ['a', 'b', 'c'].map((name) => new Database(name)) as [Database, Database, Database];
    const [a, b, c] = databases;
    const order: string[] = [];
    for (const { name, stores } of databases) {
      const add = stores.names.add;
      stores.names.add = (added) => {
        order.push(`${added} in ${name}`);
        return add(added);
      };
    }
    await rosterOf(...databases).update();
    expect(order.slice(0, 3)).toEqual(['a in a', 'b in b', 'c in c']);
    for (const { recorded } of [a, b, c]) expect([...recorded.keys()].sort()).toEqual(['a', 'b', 'c']);
    const written = order.length;
    await rosterOf(...databases).update();
    expect(order).toHaveLength(written);
    expect(reported).toStrictEqual([]);
  });

  it('are not recorded while one of them does not respond, or there is only one', async () => {
    const [a, b, c] = [new Database('a'), new Database('b'), new Database('c')];
    b.isAway = true;
    const roster = rosterOf(a, b, c);
    expect([roster.faults, roster.takenOut]).toStrictEqual([[], []]);
    await roster.update();
    expect([a.added, b.added, c.added]).toEqual([[], [], []]);
    b.isAway = false;
    await roster.update();
    for (const { recorded } of [a, b, c]) expect([...recorded.keys()].sort()).toEqual(['a', 'b', 'c']);
    const alone = new Database('x');
    await rosterOf(alone).update();
    expect(alone.added).toStrictEqual([]);
  });

  it('are compared once for concurrent calls, and again for a later call', async () => {
    const [a, b] = [new Database('a', 'a', 'b'), new Database('b', 'a', 'b')];
    const roster = rosterOf(a, b);
    await Promise.all([roster.update(), roster.update(), roster.assertComplete()]);
    expect(a.reads).toBe(1);
    await roster.update();
    expect(a.reads).toBe(2);
  });

  it('reveal a database that is missing, once', async () => {
    const [a, b] = [new Database('a', 'a', 'b', 'c'), new Database('b', 'a', 'b')];
    const roster = rosterOf(a, b);
    for (let n = 0; n < 2; n++) {
      const message = expect.stringContaining('The database "c" has or had tags') as string;
      await expect(roster.assertComplete()).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE', message });
    }
    expect(reported).toEqual([expect.stringContaining('"c"')]);
    expect(roster.faults).toEqual(reported);
    expect(b.added).toStrictEqual([]);
    a.recorded.delete('c');
    await roster.assertComplete();
    expect(roster.faults).toStrictEqual([]);
  });

  it('reveal a database that was replaced, unless another server records it at this moment', async () => {
    const [a, b] = [new Database('a', 'a', 'b'), new Database('b')];
    const roster = rosterOf(a, b);
    await roster.update();
    expect(reported).toEqual([expect.stringContaining('The database "b" was replaced')]);
    expect(b.added).toStrictEqual([]);
    const other = new Database('b');
    const list = other.stores.names.list;
    other.stores.names.list = async () => {
      const names = await list();
      other.recorded.set('b', 'listed');
      return names;
    };
    const beside = rosterOf(a, other);
    await beside.update();
    expect(beside.faults).toStrictEqual([]);
    expect(reported).toHaveLength(1);
  });

  it('reveal a database that was taken out, also to a comparison that had begun before', async () => {
    const [a, b] = [new Database('a', 'a', 'b'), new Database('b', 'a', 'b')];
    const roster = rosterOf(a, b);
    const before = roster.update();
    // It has read the names.
    a.recorded.set('b', 'removed');
    await roster.assertListed('a');
    const message = expect.stringContaining('The database "b" was removed') as string;
    await expect(roster.assertListed('b')).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE', message });
    await before;
    expect(roster.takenOut).toEqual(['b']);
    const [x, y] = [new Database('x', 'x', 'y'), new Database('y', 'x', 'y')];
    const overtaken = rosterOf(x, y);
    void overtaken.update();
    x.recorded.set('y', 'removed');
    await expect(overtaken.assertListed('y')).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
  });

  it('are compared again after a failure', async () => {
    const [a, b] = [new Database('a'), new Database('b')];
    const { add } = a.stores.names;
    a.stores.names.add = () => Promise.reject(new Error('broken'));
    const roster = rosterOf(a, b);
    await expect(roster.update()).resolves.toBeUndefined();
    a.stores.names.add = add;
    await roster.update();
    expect([...a.recorded.keys()].sort()).toEqual(['a', 'b']);
  });

  it('are unknown of a database that does not respond, which is not missing', async () => {
    const [a, b] = [new Database('a', 'a', 'b'), new Database('b')];
    b.isAway = true;
    await rosterOf(a, b).assertComplete();
    expect(reported).toStrictEqual([]);
    // What the others have on record counts.
    a.recorded.set('x', 'listed');
    await expect(rosterOf(a, b).assertComplete()).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
  });

  it('reveal a database that was replaced, and does not respond to the second question', async () => {
    const [a, b] = [new Database('a', 'a', 'b'), new Database('b')];
    const list = b.stores.names.list;
    b.stores.names.list = () => {
      const names = list();
      b.isAway = true;
      return names;
    };
    await rosterOf(a, b).update();
    expect(reported).toEqual([expect.stringContaining('The database "b" was replaced')]);
  });
});
