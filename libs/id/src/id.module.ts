import { type DynamicModule, Module } from '@nestjs/common';
import { IdService } from '@leaf/core';
import { SegmentModule, type SegmentModuleOptions, SegmentService } from '@leaf/segment';
import { SnowflakeModule, type SnowflakeModuleOptions, SnowflakeService } from '@leaf/snowflake';
import { EmbeddedIdService } from './embedded-id-service';

export interface IdModuleOptions {
  /** Left out: segment mode is off. */
  readonly segment?: SegmentModuleOptions;
  /** Left out: snowflake mode is off. */
  readonly snowflake?: SnowflakeModuleOptions;
}

/** `IdService` in this process, on one or both modes. */
@Module({})
export class IdModule {
  static forRoot({ segment, snowflake }: IdModuleOptions): DynamicModule {
    const modes = [
      ...(segment === undefined ? [] : [SegmentModule.forRoot(segment)]),
      ...(snowflake === undefined ? [] : [SnowflakeModule.forRoot(snowflake)]),
    ];
    return {
      module: IdModule,
      imports: modes,
      providers: [
        {
          provide: IdService,
          useFactory: (segments?: SegmentService, snowflakes?: SnowflakeService) =>
            new EmbeddedIdService(segments, snowflakes),
          inject: [
            { token: SegmentService, optional: true },
            { token: SnowflakeService, optional: true },
          ],
        },
      ],
      exports: [IdService, ...modes],
    };
  }
}
