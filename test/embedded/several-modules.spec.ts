import 'reflect-metadata';
import { type DynamicModule, type InjectionToken, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LeafClient, LeafClientModule } from '@leaf-ids/client';
import { type IdModuleOptions, IdModule, IdService, SegmentModule, SegmentService } from '@leaf-ids/id';
import { IdTestingModule } from '@leaf-ids/id/testing';
import { Persistence, PersistenceModule } from '@leaf-ids/persistence';
import { DataSource } from 'typeorm';

const MEMORY = 'sqlite::memory:';
const NAMES = ['order', 'invoice'];

/** What the feature modules of one application inject, each with a Leaf module of its own. */
async function injected(token: InjectionToken, moduleFor: (name: string) => DynamicModule): Promise<unknown[]> {
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
  const found = NAMES.map((name) => app.get<unknown>(name, { strict: false }));
  await app.close();
  return found;
}

describe('Two modules whose functions have the same source text are two modules:', () => {
  it.each<[string, InjectionToken, (name: string) => DynamicModule]>([
    [
      'IdModule',
      IdService,
      (name) => IdModule.forRootAsync({ useFactory: () => ({ database: MEMORY, tags: [name] }) }),
    ],
    [
      'SegmentModule',
      SegmentService,
      (name) =>
        SegmentModule.forRootAsync({
          useFactory: () => ({ database: { url: MEMORY, migrate: true, firstTag: name } }),
        }),
    ],
    [
      'PersistenceModule',
      Persistence,
      (name) => PersistenceModule.forRootAsync({ useFactory: () => ({ url: MEMORY, migrate: true, firstTag: name }) }),
    ],
    [
      'LeafClientModule',
      LeafClient,
      (name) => LeafClientModule.forRootAsync({ useFactory: () => ({ servers: [`http://${name}:8080`] }) }),
    ],
    ['IdTestingModule', IdService, (name) => IdTestingModule.forRoot({ tags: [name] })],
  ])('%s', async (_name, token, moduleFor) => {
    const [first, second] = await injected(token, moduleFor);
    expect(first).toBeDefined();
    expect(first).not.toBe(second);
  });
});

it.each<IdModuleOptions>([
  { database: MEMORY, tags: [{ tag: 'order', step: 10, maxId: 1000n }] },
  { database: { dataSource: DataSource }, tags: [{ tag: 'order', step: 10, maxId: 1000n }] },
])('The metadata of IdModule can be serialized with a bigint in the options', (options) => {
  expect(() => JSON.stringify(IdModule.forRoot(options))).not.toThrow();
});
