import { type DynamicModule, type FactoryProvider, Module } from '@nestjs/common';
import { getDataSourceToken, getRepositoryToken } from '@nestjs/typeorm';
import { SegmentStore, TagStore } from '@leaf-ids/core';
import { assertOptions, NumberStore } from '@leaf-ids/core/internal';
import { LeafAlloc } from '../stores/stored-tag';
import { openPersistence, Persistence } from './open-persistence';
import {
  type ASYNC_OPTIONS_TYPE,
  ConfigurableModuleClass,
  MODULE_OPTIONS_TOKEN,
  type PersistenceModuleOptions,
  persistenceRule,
  type ShardedPersistenceOptions,
} from './persistence.module-definition';

/**
 * Name of the data source for `@InjectDataSource` and `@InjectRepository`; of several databases, that of `a` is
 * `leaf-a`. It can be injected wherever the module of Leaf is imported, and only reads.
 *
 * @example constructor(@InjectRepository(LeafAlloc, LEAF_DATA_SOURCE) tags: Repository<LeafAlloc>) {}
 */
export const LEAF_DATA_SOURCE = 'leaf';

/** The stores on the database, and its data source. Without options, each is undefined. */
@Module({})
export class PersistenceModule extends ConfigurableModuleClass {
  static override forRoot(options: PersistenceModuleOptions): DynamicModule {
    return this.forRootAsync({ useFactory: () => options }, databasesOf(options));
  }

  /** @param databases the names of several databases whose data sources can be injected */
  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE, databases: readonly string[] = []): DynamicModule {
    const base = super.forRootAsync(options);
    const parts = [
      part(SegmentStore, ({ segments }) => segments),
      part(TagStore, ({ tags }) => tags),
      part(NumberStore, ({ numbers }) => numbers),
      ...[undefined, ...databases].flatMap(dataSourceParts),
    ];
    const persistence = { provide: Persistence, useFactory: open, inject: [MODULE_OPTIONS_TOKEN] };
    return {
      ...base,
      providers: [...(base.providers ?? []), persistence, ...parts],
      exports: [Persistence, ...parts.map(({ provide }) => provide)],
    };
  }
}

/** The names of several databases; none for a single one. */
export function databasesOf(options: Partial<ShardedPersistenceOptions> | undefined): string[] {
  return Object.keys(options?.shards?.databases ?? {});
}

/** @throws LeafError `LEAF_CONFIG_INVALID` that lists all faults */
function open(options?: PersistenceModuleOptions): Promise<Persistence | undefined> {
  if (options !== undefined) assertOptions('PersistenceModule', persistenceRule, options);
  return openPersistence(options);
}

function dataSourceParts(database: string | undefined): FactoryProvider[] {
  const name = database === undefined ? LEAF_DATA_SOURCE : `${LEAF_DATA_SOURCE}-${database}`;
  return [
    part(getDataSourceToken(name), ({ dataSource }) => dataSource(database)),
    part(getRepositoryToken(LeafAlloc, name), ({ dataSource }) => dataSource(database)?.getRepository(LeafAlloc)),
  ];
}

function part(provide: FactoryProvider['provide'], pick: (persistence: Persistence) => unknown): FactoryProvider {
  return {
    provide,
    useFactory: (persistence?: Persistence) => persistence && pick(persistence),
    inject: [Persistence],
  };
}
