import {
  type ConfigurableModuleAsyncOptions,
  ConfigurableModuleBuilder,
  type DynamicModule,
  Module,
} from '@nestjs/common';
import { assertOptions } from '@leaf-ids/core/internal';
import { type SnowflakeModuleOptions, snowflakeModuleRule } from '../snowflake/snowflake-options';
import { leafModule } from './leaf.module';
import { RuntimeOptions } from '../options/leaf-options';

/**
 * A factory may return undefined to disable the mode. Transient: Nest 10 takes modules for the same one when their
 * functions have the same source text.
 */
const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<
  SnowflakeModuleOptions | undefined
>({ alwaysTransient: true })
  .setClassMethodName('forRoot')
  .build();

/** Only snowflake IDs: time, worker ID and sequence, under a lease from a registry. */
@Module({})
export class SnowflakeModule extends ConfigurableModuleClass {
  /** Snowflake IDs by these options. */
  static override forRoot(options: SnowflakeModuleOptions): DynamicModule {
    return this.forRootAsync({ useFactory: () => options });
  }

  /** The same, with options from a factory, which can inject providers; undefined disables the mode. */
  static override forRootAsync(
    options: ConfigurableModuleAsyncOptions<SnowflakeModuleOptions | undefined>,
  ): DynamicModule {
    return assemble(super.forRootAsync(options));
  }
}

function assemble(base: DynamicModule): DynamicModule {
  return leafModule(base, MODULE_OPTIONS_TOKEN, (snowflake?: SnowflakeModuleOptions) => {
    if (snowflake === undefined) return new RuntimeOptions({});
    assertOptions('SnowflakeModule', snowflakeModuleRule, snowflake);
    return new RuntimeOptions({ snowflake });
  });
}
