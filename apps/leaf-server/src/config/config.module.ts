import { type DynamicModule, Module } from '@nestjs/common';
import type { LeafConfig } from './leaf-config';

/** Injects {@link LeafConfig}. */
export const LEAF_CONFIG = Symbol('LEAF_CONFIG');

/** The settings of the server, for every module. */
@Module({})
export class ConfigModule {
  static forRoot(config: LeafConfig): DynamicModule {
    return {
      module: ConfigModule,
      global: true,
      providers: [{ provide: LEAF_CONFIG, useValue: config }],
      exports: [LEAF_CONFIG],
    };
  }
}
