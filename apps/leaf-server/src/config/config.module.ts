import { type DynamicModule, Module } from '@nestjs/common';
import type { LeafConfig } from './leaf-config';
import { LeafLogger } from './logging';

/** Injects {@link LeafConfig}. */
export const LEAF_CONFIG = Symbol('LEAF_CONFIG');

/** The settings of the server and its log, for every module. */
@Module({})
export class ConfigModule {
  static forRoot(config: LeafConfig, logger: LeafLogger): DynamicModule {
    return {
      module: ConfigModule,
      global: true,
      providers: [
        { provide: LEAF_CONFIG, useValue: config },
        { provide: LeafLogger, useValue: logger },
      ],
      exports: [LEAF_CONFIG, LeafLogger],
    };
  }
}
