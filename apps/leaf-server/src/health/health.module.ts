import { Module } from '@nestjs/common';
import { HealthController } from './health.controller';
import { AggregatedReadiness } from './aggregated-readiness';

@Module({ controllers: [HealthController], providers: [AggregatedReadiness] })
export class HealthModule {}
