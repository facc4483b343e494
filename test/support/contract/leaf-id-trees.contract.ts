import 'reflect-metadata';
import { Column, type DataSource, Entity, Tree, TreeChildren, TreeParent, type TreeRepository } from 'typeorm';
import { PrefixedFormat, RadixFormat } from '@leaf-ids/core';
import { type KeyForm, LeafId, LeafIdSubscriber } from '@leaf-ids/orm';
import { RecordingIdService } from '../fakes/recording-id-service';
import { type OrmDatabase, OrmDatabases } from '../servers/orm-databases';

interface Folder {
  id: unknown;
  name: string;
  parent: Folder | null;
  children: Folder[];
}

const KINDS = ['closure-table', 'materialized-path', 'nested-set'] as const;
type Kind = (typeof KINDS)[number];

function folderOf(kind: Kind, as: KeyForm): new () => Folder {
  @Entity('folder')
  @Tree(kind)
  class FolderOfKind implements Folder {
    @LeafId('folder', { as })
    id: unknown;

    @Column()
    name!: string;

    @TreeParent()
    parent!: FolderOfKind | null;

    @TreeChildren({ cascade: true })
    children!: FolderOfKind[];
  }
  return FolderOfKind;
}

/** TypeORM adds to numbers of its own, which this SQLite reads as bigints. */
const isRefusedByTypeOrm = (database: OrmDatabase, kind: Kind): boolean =>
  database === 'SQLite exact' && kind === 'nested-set';

/** Trees of entities, on each of these databases. */
export function treesContract(names: readonly OrmDatabase[]): void {
  let databases: OrmDatabases;
  let dataSource: DataSource;
  let folders: TreeRepository<Folder>;

  beforeAll(async () => (databases = await OrmDatabases.start(names)));
  afterAll(() => databases.stop());
  afterEach(async () => {
    if (dataSource.isInitialized) await dataSource.destroy();
  });

  async function open(database: OrmDatabase, kind: Kind, as: KeyForm): Promise<void> {
    const type = folderOf(kind, as);
    dataSource = await databases.open(database, [type]);
    new LeafIdSubscriber(dataSource, new RecordingIdService());
    folders = dataSource.getTreeRepository(type);
  }

  const get = (name: string): Promise<Folder> =>
    folders.findOneOrFail({ where: { name }, relations: { parent: true } });
  const folder = (name: string, children: Folder[] = []): Folder => folders.create({ name, children });
  const namesOf = (found: Folder[]): string[] => found.map(({ name }) => name).sort();

  function drawn(roots: readonly Folder[]): string {
    const sorted = [...roots].sort((a, b) => (a.name < b.name ? -1 : 1));
    return sorted.map(({ name, children }) => (children.length === 0 ? name : `${name}(${drawn(children)})`)).join(' ');
  }

  /** root(a(c(d)) b) */
  async function plant(): Promise<void> {
    await folders.save(folder('root', [folder('a'), folder('b')]));
    await folders.save({ name: 'c', parent: await folders.findOneByOrFail({ name: 'a' }) });
    await folders.save({ name: 'd', parent: await folders.findOneByOrFail({ name: 'c' }) });
  }

  async function move(name: string, to: string): Promise<void> {
    await folders.save(Object.assign(await get(name), { parent: await get(to) }));
  }

  const cases = KINDS.flatMap((kind) => names.map((database) => [kind, database] as const));
  describe.each(cases.filter(([kind, database]) => !isRefusedByTypeOrm(database, kind)))(
    'a %s on %s',
    (kind, database) => {
      it.each(['string', 'bigint'] as const)('is found whole with keys as %s', async (as) => {
        await open(database, kind, as);
        await plant();
        expect(drawn(await folders.findTrees())).toBe('root(a(c(d)) b)');
        expect(namesOf(await folders.findRoots())).toEqual(['root']);
        const [a, d] = [await get('a'), await get('d')];
        expect(drawn([await folders.findDescendantsTree(a)])).toBe('a(c(d))');
        expect(namesOf(await folders.findDescendants(a))).toEqual(['a', 'c', 'd']);
        expect(namesOf(await folders.findAncestors(d))).toEqual(['a', 'c', 'd', 'root']);
        expect((await folders.findAncestorsTree(d)).parent?.parent?.parent?.name).toBe('root');
        expect([await folders.countDescendants(a), await folders.countAncestors(d)]).toEqual([3, 4]);
        expect(typeof a.id).toBe(as);
      });

      it('moves, and loses leaves', async () => {
        await open(database, kind, 'string');
        await plant();
        await move('c', 'b');
        expect(drawn(await folders.findTrees())).toBe('root(a b(c(d)))');
        expect(namesOf(await folders.findDescendants(await get('b')))).toEqual(['b', 'c', 'd']);
        await folders.remove(await get('d'));
        expect(drawn(await folders.findTrees())).toBe('root(a b(c))');
      });

      it('moves with bigints as keys only where JSON knows them', async () => {
        await open(database, kind, 'bigint');
        await plant();
        await expect(move('c', 'b')).rejects.toThrow('serialize a BigInt');
        expect(drawn(await folders.findTrees())).toBe('root(a(c(d)) b)');
        function toJSON(this: bigint): string {
          return String(this);
        }
        Object.defineProperty(BigInt.prototype, 'toJSON', { configurable: true, value: toJSON });
        try {
          await move('c', 'b');
          await folders.save(await get('c'));
        } finally {
          Reflect.deleteProperty(BigInt.prototype, 'toJSON');
        }
        expect(drawn(await folders.findTrees())).toBe('root(a b(c(d)))');
        expect(namesOf(await folders.findDescendants(await get('b')))).toEqual(['b', 'c', 'd']);
      });
    },
  );

  it.each(cases)('a %s on %s refuses keys with a format', async (kind, database) => {
    const type = folderOf(kind, new PrefixedFormat('dir', new RadixFormat({ base: 10 })));
    dataSource = await databases.create(database, [type]);
    new LeafIdSubscriber(dataSource, new RecordingIdService());
    await expect(dataSource.initialize()).rejects.toMatchObject({ code: 'LEAF_CONFIG_INVALID' });
  });

  const refused = cases.filter(([kind, database]) => isRefusedByTypeOrm(database, kind));
  if (refused.length > 0)
    it.each(refused)('a %s on %s is refused by TypeORM, and nothing written', async (kind, database) => {
      await open(database, kind, 'string');
      await expect(plant()).rejects.toThrow('Cannot mix BigInt');
      expect(await folders.count()).toBe(0);
    });
}
