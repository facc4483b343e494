import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type DynamicModule,
  type INestApplicationContext,
  Inject,
  Injectable,
  Module,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { getDataSourceToken, InjectDataSource, InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, type Repository } from 'typeorm';
import { SegmentStore, TagStore } from '@leaf-ids/core';
import { loadSqlite } from '../dialects/sqlite/sqlite-file';
import { LeafAlloc } from '../stores/stored-tag';
import { Persistence } from './open-persistence';
import { LEAF_DATA_SOURCE, PersistenceModule } from './persistence.module';
import type { PersistenceModuleOptions } from './persistence.module-definition';

let directory: string;
beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'leaf-module-'))));
afterEach(() => rm(directory, { recursive: true }));

const fileOf = (name: string): string => join(directory, `${name}.sqlite`);

function start(...imports: DynamicModule[]): Promise<INestApplicationContext> {
  @Module({ imports })
  class HostModule {}
  return NestFactory.createApplicationContext(HostModule, { logger: false, abortOnError: false });
}

/** A feature module with its own database. */
function partWith(persistence: DynamicModule): { module: DynamicModule; Part: new (...given: never[]) => Held } {
  @Injectable()
  class Part implements Held, OnApplicationShutdown {
    tagsAtStop = 0;

    constructor(
      @Inject(SegmentStore) readonly store: SegmentStore | undefined,
      @InjectDataSource(LEAF_DATA_SOURCE) readonly source: DataSource | undefined,
      @InjectRepository(LeafAlloc, LEAF_DATA_SOURCE) readonly rows: Repository<LeafAlloc> | undefined,
    ) {}

    async onApplicationShutdown(): Promise<void> {
      this.tagsAtStop = (await this.store?.listTags())?.length ?? 0;
    }
  }
  @Module({})
  class PartModule {}
  return { module: { module: PartModule, imports: [persistence], providers: [Part], exports: [Part] }, Part };
}

interface Held {
  readonly store: SegmentStore | undefined;
  readonly source: DataSource | undefined;
  readonly rows: Repository<LeafAlloc> | undefined;
  /** Number of tags that the store listed at shutdown: the database closes after its users. */
  readonly tagsAtStop: number;
}

const firstTag = 'order';

it('opens a data source for each module, beside that of the application', async () => {
  const own = TypeOrmModule.forRoot({
    type: 'better-sqlite3',
    driver: await loadSqlite(),
    database: fileOf('own'),
  });
  const one = partWith(PersistenceModule.forRoot({ url: `sqlite:${fileOf('one')}`, migrate: true, firstTag }));
  const two = partWith(PersistenceModule.forRoot({ url: `sqlite:${fileOf('two')}`, migrate: true, firstTag }));
  const app = await start(own, one.module, two.module);
  expect(app.get(DataSource).options.database).toBe(fileOf('own'));
  const users = [app.get(one.Part), app.get(two.Part)];
  expect(users.map(({ store }) => store?.description)).toEqual(['one', 'two'].map((name) => `sqlite:${fileOf(name)}`));
  expect(users.map(({ source }) => source?.options.database)).toEqual([fileOf('one'), fileOf('two')]);
  await app.close();
  expect(users.map(({ source }) => source?.isInitialized)).toEqual([false, false]);
  expect(users.map(({ tagsAtStop }) => tagsAtStop)).toEqual([1, 1]);
});

it('reads a tag through its repository, exactly, and changes nothing through it', async () => {
  const one = partWith(PersistenceModule.forRoot({ url: `sqlite:${fileOf('one')}`, migrate: true }));
  const app = await start(one.module);
  const { source, rows } = app.get(one.Part);
  const maxId = 2n ** 53n + 1n;
  await app.get(TagStore, { strict: false }).create({ tag: 'order', step: 10, maxId });
  expect(await rows?.find()).toMatchObject([{ biz_tag: 'order', max_id: String(maxId), step: 10, max_step: null }]);
  expect(await source?.getRepository(LeafAlloc).findOneBy({ biz_tag: 'order' })).toBeInstanceOf(LeafAlloc);
  const refused = { code: 'LEAF_CONFIG_INVALID', message: expect.stringContaining('only reads') as string };
  const changes = [
    () => source?.query('DELETE FROM leaf_alloc'),
    () => source?.query('SELECT 1; DELETE FROM leaf_alloc'),
    () => source?.transaction(() => Promise.resolve()),
    () => rows?.update({ biz_tag: 'order' }, { description: 'x' }),
    () => rows?.save({ biz_tag: 'order', description: 'x' }),
    () => rows?.delete({ biz_tag: 'order' }),
  ];
  for (const change of changes) await expect(change()).rejects.toMatchObject(refused);
  expect(await rows?.find()).toMatchObject([{ biz_tag: 'order', step: 10 }]);
  // Leaf itself still writes, on SQLite through the same connection.
  expect(await app.get(one.Part).store?.allocate('order', 10)).toMatchObject({ from: maxId });
  await app.get(TagStore, { strict: false }).create({ tag: 'invoice', step: 10 });
  expect(await rows?.count()).toBe(2);
  await app.close();
});

it('opens several databases by itself, each with its data source, and nothing without options', async () => {
  const databases = { a: `sqlite:${fileOf('a')}`, b: `sqlite:${fileOf('b')}` };
  const several = partWith(PersistenceModule.forRoot({ shards: { databases }, migrate: true, firstTag }));
  const none = partWith(PersistenceModule.forRootAsync({ useFactory: () => undefined }));
  const app = await start(several.module, none.module);
  const sources = ['a', 'b'].map((name) =>
    app.get<DataSource>(getDataSourceToken(`${LEAF_DATA_SOURCE}-${name}`), { strict: false }),
  );
  expect(sources.map(({ options }) => options.database)).toEqual([fileOf('a'), fileOf('b')]);
  expect(await app.get(several.Part).store?.listTags()).toMatchObject([{ tag: 'order' }]);
  expect(app.get(several.Part).source).toBeUndefined();
  expect(app.get(none.Part)).toMatchObject({ store: undefined, source: undefined, rows: undefined });
  await app.close();
  expect(sources.map(({ isInitialized }) => isInitialized)).toEqual([false, false]);
});

it('stops its user before the database closes', async () => {
  const app = await start(PersistenceModule.forRoot({ url: `sqlite:${fileOf('one')}`, migrate: true }));
  const persistence = app.get(Persistence, { strict: false });
  const opened: unknown[] = [];
  persistence.closeAfter(() => {
    opened.push(persistence.dataSource()?.isInitialized);
    return Promise.resolve();
  });
  await app.close();
  expect(opened).toEqual([true]);
});

it('rejects invalid options before it opens anything', async () => {
  const options = { url: `sqlite:${fileOf('one')}`, migrat: true } as unknown as PersistenceModuleOptions;
  const message = [
    'The options of PersistenceModule are invalid:',
    'migrat is not an option; did you mean migrate?',
    'migrate is required',
  ].join('\n  - ');
  const invalid = { code: 'LEAF_CONFIG_INVALID', message };
  await expect(start(PersistenceModule.forRoot(options))).rejects.toMatchObject(invalid);
  expect(existsSync(fileOf('one'))).toBe(false);
});

it('rejects without a retry, with the reason', async () => {
  const directoryOfNobody = `sqlite:${fileOf('one')}/below/leaf.sqlite`;
  await rm(fileOf('one'), { force: true });
  await (await start(PersistenceModule.forRoot({ url: `sqlite:${fileOf('one')}`, migrate: true }))).close();
  await expect(start(PersistenceModule.forRoot({ url: directoryOfNobody, migrate: true }))).rejects.toMatchObject({
    code: 'LEAF_DATA_DIR_UNUSABLE',
  });
});
