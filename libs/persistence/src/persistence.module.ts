import { type DynamicModule, Logger, Module } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { Releasers, SegmentStore, SystemClock, systemRandom, TagStore } from '@leaf/core';
import { createSegmentStore, createTagStore } from './create-store';
import { parseDatabaseUrl } from './database-url';
import { LeafDataSource } from './leaf-data-source';
import { FIRST_TAG, openDatabase } from './open-database';
import {
  ConfigurableModuleClass,
  DEFAULT_FAILOVER_GAP_STEPS,
  MODULE_OPTIONS_TOKEN,
  type PersistenceModuleOptions,
} from './persistence.module-definition';

/** Named, so that it lives beside the data sources of the application it is used in. */
const NAME = 'leaf';

/** The database: its connection, its schema, and the stores on it. */
@Module({})
export class PersistenceModule extends ConfigurableModuleClass {
  static override forRoot(options: PersistenceModuleOptions): DynamicModule {
    const base = super.forRoot(options);
    return {
      ...base,
      imports: [
        TypeOrmModule.forRootAsync({
          name: NAME,
          useFactory: () => ({ type: 'better-sqlite3', database: '', toRetry: () => false }),
          dataSourceFactory: () => open(options),
        }),
      ],
      providers: [
        ...(base.providers ?? []),
        { provide: LeafDataSource, useExisting: getDataSourceToken(NAME) },
        {
          provide: SegmentStore,
          useFactory: (dataSource: LeafDataSource, { failoverGapSteps }: PersistenceModuleOptions) =>
            createSegmentStore(dataSource, {
              gapSteps: failoverGapSteps ?? DEFAULT_FAILOVER_GAP_STEPS,
              onFailover: (message) => new Logger('Persistence').warn(message),
            }),
          inject: [LeafDataSource, MODULE_OPTIONS_TOKEN],
        },
        { provide: TagStore, useFactory: createTagStore, inject: [LeafDataSource] },
        { provide: Releasers, useFactory: ({ users }: LeafDataSource) => users, inject: [LeafDataSource] },
      ],
      exports: [LeafDataSource, SegmentStore, TagStore, Releasers],
    };
  }
}

function open({ url, migrate }: PersistenceModuleOptions): Promise<LeafDataSource> {
  const logger = new Logger('Persistence');
  const onCloseProblem = (step: string, problem: string): void => logger.error(`Stop: ${step}: ${problem}`);
  const onRetry = (problem: string, waitMs: number): void => {
    logger.warn(`The database cannot be used yet, next try in ${Math.round(waitMs)} ms: ${problem}`);
  };
  const options = { target: parseDatabaseUrl(url), migrate, firstTag: FIRST_TAG, onCloseProblem, onRetry };
  return openDatabase(options, new SystemClock(), systemRandom);
}
