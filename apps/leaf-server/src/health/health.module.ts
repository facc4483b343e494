import { Module } from '@nestjs/common';
import { AggregatedReadiness, HealthController } from './health.controller';

@Module({ controllers: [HealthController], providers: [AggregatedReadiness] })
export class HealthModule {}
