import { Module } from '@nestjs/common';
import { NumberController } from './number.controller';
import { PeriodController } from './period.controller';
import { SegmentController } from './segment.controller';
import { SnowflakeController, TimeController } from './snowflake.controller';

@Module({ controllers: [SegmentController, PeriodController, NumberController, SnowflakeController, TimeController] })
export class IdsModule {}
