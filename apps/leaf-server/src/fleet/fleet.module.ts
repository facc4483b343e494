import { Module } from '@nestjs/common';
import { MonitorModule } from '../monitor/monitor.module';
import { FailureLimit } from '../tokens/failure-limit';
import { ClusterGuard } from './cluster.guard';
import { FleetController, PeerController } from './fleet.controller';
import { FleetWatch } from './fleet-watch';
import { OwnReport } from './own-report';
import { PeerClient } from './peer-client';
import { WorkerMap } from './worker-map';

/** The servers of the worker registry, which ask each other. */
@Module({
  imports: [MonitorModule],
  controllers: [FleetController, PeerController],
  providers: [FailureLimit, ClusterGuard, OwnReport, PeerClient, FleetWatch, WorkerMap],
})
export class FleetModule {}
