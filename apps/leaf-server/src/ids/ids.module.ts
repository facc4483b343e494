import { Module } from '@nestjs/common';
import { PeriodController } from './period.controller';
import { SegmentController } from './segment.controller';
import { SnowflakeController, TimeController } from './snowflake.controller';

@Module({ controllers: [SegmentController, PeriodController, SnowflakeController, TimeController] })
export class IdsModule {}
