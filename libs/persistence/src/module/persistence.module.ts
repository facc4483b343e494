import { type FactoryProvider, Module } from '@nestjs/common';
import { Releasers, SegmentStore, TagStore } from '@leaf/core';
import { openPersistence } from './open-persistence';
import { Persistence } from './persistence';
import { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } from './persistence.module-definition';

function part(provide: FactoryProvider['provide'], pick: (persistence: Persistence) => unknown): FactoryProvider {
  return {
    provide,
    useFactory: (persistence?: Persistence) => persistence && pick(persistence),
    inject: [Persistence],
  };
}

/** The database: its connection, its schema, and the stores on it; without options each of them is undefined. */
@Module({
  providers: [
    { provide: Persistence, useFactory: openPersistence, inject: [MODULE_OPTIONS_TOKEN] },
    part(SegmentStore, ({ segments }) => segments),
    part(TagStore, ({ tags }) => tags),
    part(Releasers, ({ users }) => users),
  ],
  exports: [SegmentStore, TagStore, Releasers],
})
export class PersistenceModule extends ConfigurableModuleClass {}
