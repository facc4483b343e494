import {
  type ConfigurableModuleAsyncOptions,
  ConfigurableModuleBuilder,
  type DynamicModule,
  Module,
} from '@nestjs/common';
import { assertOptions, object } from '@leaf-ids/core/internal';
import { RuntimeOptions } from '../options/leaf-options';
import { SEGMENT_MODULE_RULES, type SegmentModuleOptions } from '../segment/segment.service';
import { leafModule } from './leaf.module';

/**
 * A factory may return undefined to disable the mode. Transient: Nest 10 takes modules for the same one when their
 * functions have the same source text.
 */
const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<
  SegmentModuleOptions | undefined
>({ alwaysTransient: true })
  .setClassMethodName('forRoot')
  .build();

/** Only segment IDs: ranges from a database table, double-buffered in memory. */
@Module({})
export class SegmentModule extends ConfigurableModuleClass {
  /** Segment IDs by these options. */
  static override forRoot(options: SegmentModuleOptions): DynamicModule {
    return this.forRootAsync({ useFactory: () => options });
  }

  /** The same, with options from a factory, which can inject providers; undefined disables the mode. */
  static override forRootAsync(
    options: ConfigurableModuleAsyncOptions<SegmentModuleOptions | undefined>,
  ): DynamicModule {
    return assemble(super.forRootAsync(options));
  }
}

function assemble(base: DynamicModule): DynamicModule {
  return leafModule(base, MODULE_OPTIONS_TOKEN, (segment?: SegmentModuleOptions) => {
    if (segment === undefined) return new RuntimeOptions({});
    assertOptions('SegmentModule', object(SEGMENT_MODULE_RULES), segment);
    return new RuntimeOptions({ segment });
  });
}
