import { Module } from '@nestjs/common';
import { AdminModule } from '../admin/admin.module';
import { MonitorModule } from '../monitor/monitor.module';
import { ClusterController, ClusterGuard, PeerController, WorkerMap } from './cluster.controller';
import { ClusterWatch } from './cluster-watch';
import { ClusterCommands, CommandsController } from './commands.controller';
import { OwnReport } from './own-report';
import { PeerClient } from './peer-client';

/** The servers of the worker registry, which ask each other. */
@Module({
  imports: [AdminModule, MonitorModule],
  controllers: [ClusterController, CommandsController, PeerController],
  providers: [ClusterGuard, OwnReport, PeerClient, ClusterWatch, ClusterCommands, WorkerMap],
})
export class ClusterModule {}
