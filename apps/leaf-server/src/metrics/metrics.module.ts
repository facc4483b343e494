import { Module } from '@nestjs/common';
import { MonitorModule } from '../monitor/monitor.module';
import { Metrics, MetricsController } from './metrics.controller';

@Module({ imports: [MonitorModule], controllers: [MetricsController], providers: [Metrics] })
export class MetricsModule {}
