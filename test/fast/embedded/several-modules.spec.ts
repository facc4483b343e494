import 'reflect-metadata';
import { type DynamicModule, type InjectionToken, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { getRepositoryToken } from '@nestjs/typeorm';
import { LeafClient } from '@leaf-ids/client';
import { LeafClientModule } from '@leaf-ids/client/nest';
import { SegmentStore } from '@leaf-ids/core';
import { IdModule, type IdModuleOptions, IdService, LEAF_DATA_SOURCE, LeafAlloc, SegmentModule } from '@leaf-ids/id';
import { IdTestingModule } from '@leaf-ids/id/testing';
import { PersistenceModule } from '@leaf-ids/persistence';
import { DataSource, type Repository } from 'typeorm';

const MEMORY = 'sqlite::memory:';
const NAMES = ['order', 'invoice'];

type ModuleFor = (name: string) => DynamicModule;

/** Lets `use` have what the feature modules of one application inject, each with a Leaf module of its own. */
async function inFeatures<T, R>(token: InjectionToken<T>, moduleFor: ModuleFor, use: (given: T) => R) {
  const imports = NAMES.map((name) => {
    @Module({})
    class FeatureModule {}
    const provider = { provide: name, useFactory: (given: unknown) => given, inject: [token] };
    return { module: FeatureModule, imports: [moduleFor(name)], providers: [provider] };
  });
  @Module({ imports })
  class HostModule {}
  // The only algorithm of Nest 10: it identifies a module by its metadata as text.
  const options = { logger: false, abortOnError: false, moduleIdGeneratorAlgorithm: 'deep-hash' } as const;
  const app = await NestFactory.createApplicationContext(HostModule, options);
  try {
    return await Promise.all(NAMES.map((name) => use(app.get<T>(name, { strict: false }))));
  } finally {
    await app.close();
  }
}

/** The one of the names that is a tag. */
function tagOf(ids: IdService): Promise<string> {
  return Promise.any(NAMES.map((name) => ids.nextId(name).then(() => name)));
}

describe('Two modules whose functions have the same source text have their own options:', () => {
  it.each<[string, ModuleFor]>([
    ['IdModule', (name) => IdModule.forRootAsync({ useFactory: () => ({ database: MEMORY, tags: [name] }) })],
    [
      'SegmentModule',
      (firstTag) =>
        SegmentModule.forRootAsync({ useFactory: () => ({ database: { url: MEMORY, migrate: true, firstTag } }) }),
    ],
    ['IdTestingModule', (name) => IdTestingModule.forRoot({ tags: [name] })],
  ])('%s', async (_name, moduleFor) => {
    expect(await inFeatures(IdService, moduleFor, tagOf)).toEqual(NAMES);
  });

  it('PersistenceModule', async () => {
    const moduleFor: ModuleFor = (firstTag) =>
      PersistenceModule.forRootAsync({ useFactory: () => ({ url: MEMORY, migrate: true, firstTag }) });
    const tags = await inFeatures(SegmentStore, moduleFor, (store) => store.listTags());
    expect(tags).toMatchObject(NAMES.map((tag) => [{ tag }]));
  });

  it('IdModule, with a data source and jobs', async () => {
    const moduleFor: ModuleFor = (name) => IdModule.forRoot({ database: MEMORY, tags: [name] });
    const rows = await inFeatures<Repository<LeafAlloc>, Promise<LeafAlloc[]>>(
      getRepositoryToken(LeafAlloc, LEAF_DATA_SOURCE),
      moduleFor,
      (tags) => tags.find(),
    );
    expect(rows).toMatchObject(NAMES.map((biz_tag) => [{ biz_tag, step: 2000 }]));
    const imports = [ScheduleModule.forRoot(), ...NAMES.map(moduleFor)];
    @Module({ imports })
    class HostModule {}
    const app = await NestFactory.createApplicationContext(HostModule, { logger: false });
    expect(app.get(SchedulerRegistry).getIntervals()).toEqual([
      ...['leaf-number-watch', 'leaf-tag-ends', 'leaf-tag-refresh'],
      ...['leaf-number-watch-2', 'leaf-tag-ends-2', 'leaf-tag-refresh-2'],
    ]);
    await app.close();
  });

  it('LeafClientModule', async () => {
    const moduleFor: ModuleFor = (name) =>
      LeafClientModule.forRootAsync({ useFactory: () => ({ servers: [`http://${name}:8080`] }) });
    const clients = await inFeatures(LeafClient, moduleFor, (client) => client);
    expect(new Set(clients).size).toBe(2);
  });
});

it.each<IdModuleOptions>([
  { database: MEMORY, tags: [{ tag: 'order', step: 10, maxId: 1000n }] },
  { database: { dataSource: DataSource }, tags: [{ tag: 'order', step: 10, maxId: 1000n }] },
])('The metadata of IdModule can be serialized with a bigint in the options', (options) => {
  expect(() => JSON.stringify(IdModule.forRoot(options))).not.toThrow();
});
