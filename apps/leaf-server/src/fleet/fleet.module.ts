import { Module } from '@nestjs/common';
import { AdminModule } from '../admin/admin.module';
import { MonitorModule } from '../monitor/monitor.module';
import { ClusterGuard } from './cluster.guard';
import { FleetController, PeerController } from './fleet.controller';
import { FleetWatch } from './fleet-watch';
import { FleetOrders } from './orders';
import { OrdersController } from './orders.controller';
import { OwnReport } from './own-report';
import { PeerClient } from './peer-client';
import { WorkerMap } from './worker-map';

/** The servers of the worker registry, which ask each other. */
@Module({
  imports: [AdminModule, MonitorModule],
  controllers: [FleetController, OrdersController, PeerController],
  providers: [ClusterGuard, OwnReport, PeerClient, FleetWatch, FleetOrders, WorkerMap],
})
export class FleetModule {}
