import { Module } from '@nestjs/common';
import { AdminModule } from '../admin/admin.module';
import { MonitorModule } from '../monitor/monitor.module';
import { ClusterGuard } from './cluster.guard';
import { ClusterController, PeerController } from './cluster.controller';
import { ClusterWatch } from './cluster-watch';
import { ClusterCommands } from './commands';
import { CommandsController } from './commands.controller';
import { OwnReport } from './own-report';
import { PeerClient } from './peer-client';
import { WorkerMap } from './worker-map';

/** The servers of the worker registry, which ask each other. */
@Module({
  imports: [AdminModule, MonitorModule],
  controllers: [ClusterController, CommandsController, PeerController],
  providers: [ClusterGuard, OwnReport, PeerClient, ClusterWatch, ClusterCommands, WorkerMap],
})
export class ClusterModule {}
