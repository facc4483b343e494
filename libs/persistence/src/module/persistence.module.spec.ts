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
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { SegmentStore } from '@leaf-ids/core';
import { LeafDataSource } from '../database/leaf-data-source';
import { loadSqlite } from '../dialects/sqlite-driver';
import { Persistence } from './persistence';
import { PersistenceModule } from './persistence.module';
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
function partWith(persistence: DynamicModule): { module: DynamicModule; Store: new (...given: never[]) => Held } {
  @Injectable()
  class Store implements Held, OnApplicationShutdown {
    tagsAtStop = 0;

    constructor(@Inject(SegmentStore) readonly store: SegmentStore | undefined) {}

    async onApplicationShutdown(): Promise<void> {
      this.tagsAtStop = (await this.store?.listTags())?.length ?? 0;
    }
  }
  @Module({})
  class PartModule {}
  return { module: { module: PartModule, imports: [persistence], providers: [Store], exports: [Store] }, Store };
}

interface Held {
  readonly store: SegmentStore | undefined;
  /** Number of tags that the store listed at shutdown: the database closes after its users. */
  readonly tagsAtStop: number;
}

/** The data sources that TypeOrmModule has opened for Leaf. */
function sourcesOf(app: INestApplicationContext): LeafDataSource[] {
  const modules = [...app.get(ModulesContainer).values()].filter(({ name }) => name === 'TypeOrmCoreModule');
  const instances = modules.flatMap(({ providers }) =>
    [...providers.values()].map(({ instance }): unknown => instance),
  );
  return instances.filter((instance) => instance instanceof LeafDataSource);
}

it('opens its data source through TypeOrmModule, beside that of the application', async () => {
  const own = TypeOrmModule.forRoot({
    type: 'better-sqlite3',
    driver: await loadSqlite(),
    database: fileOf('own'),
  });
  const firstTag = 'order';
  const one = partWith(PersistenceModule.forRoot({ url: `sqlite:${fileOf('one')}`, migrate: true, firstTag }));
  const two = partWith(PersistenceModule.forRoot({ url: `sqlite:${fileOf('two')}`, migrate: true, firstTag }));
  const app = await start(own, one.module, two.module);
  const sources = sourcesOf(app);
  expect(app.get(DataSource).options.database).toBe(fileOf('own'));
  expect(app.get(one.Store).store?.description).toBe(`sqlite:${fileOf('one')}`);
  expect(app.get(two.Store).store?.description).toBe(`sqlite:${fileOf('two')}`);
  expect(sources.map(({ isInitialized }) => isInitialized)).toEqual([true, true]);
  const users = [app.get(one.Store), app.get(two.Store)];
  await app.close();
  expect(sources.map(({ isInitialized }) => isInitialized)).toEqual([false, false]);
  expect(users.map(({ tagsAtStop }) => tagsAtStop)).toEqual([1, 1]);
});

it('opens several databases by itself, and nothing without options', async () => {
  const databases = { a: `sqlite:${fileOf('a')}`, b: `sqlite:${fileOf('b')}` };
  const several = partWith(PersistenceModule.forRoot({ shards: { databases }, migrate: true, firstTag: 'order' }));
  const none = partWith(PersistenceModule.forRootAsync({ useFactory: () => undefined }));
  const app = await start(several.module, none.module);
  expect(sourcesOf(app)).toEqual([]);
  expect(await app.get(several.Store).store?.listTags()).toMatchObject([{ tag: 'order' }]);
  expect(app.get(none.Store).store).toBeUndefined();
  await app.close();
});

it('stops its user before the database closes, even if Nest closes the database first', async () => {
  const app = await start(PersistenceModule.forRoot({ url: `sqlite:${fileOf('one')}`, migrate: true }));
  const [source] = sourcesOf(app);
  const opened: unknown[] = [];
  app.get(Persistence, { strict: false }).closeAfter(() => {
    opened.push(source?.isInitialized);
    return Promise.resolve();
  });
  // As Nest 10 does at app.close().
  await source?.destroy();
  expect(opened).toEqual([true]);
  await app.close();
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
