import type { Provider, Type } from '@nestjs/common';
import { Clock } from '@leaf/core';
import type { LeafConfig } from '../config/leaf-config';
import { JavaPagesController } from '../java-compat/java-pages.controller';
import { Monitor } from './process/monitor';
import { MonitorController } from './monitor.controller';
import { Parts } from './process/parts';
import { DatabaseProbe } from './sampling/database-probe';
import { IssueRates } from './sampling/issue-rates';
import { PeerWatch } from './sampling/peer-watch';
import { Sampler } from './sampling/sampler';
import { Traffic } from './sampling/traffic';
import { ServerMonitor } from './server/server-monitor';
import { ServerTags } from './server/server-tags';
import { TagFeed } from './process/tag-feed';
import { ServerIdentity } from './process/server-identity';
import { StreamHub } from './stream/stream-hub';
import { TagViews } from './process/tag-views';

export const MONITOR_CONTROLLERS: Type[] = [MonitorController, JavaPagesController];

export function monitorProviders(config: LeafConfig): Provider[] {
  return [
    { provide: ServerIdentity, useFactory: (clock: Clock) => new ServerIdentity(config, clock), inject: [Clock] },
    { provide: Traffic, useFactory: (clock: Clock) => new Traffic(clock), inject: [Clock] },
    { provide: IssueRates, useFactory: (clock: Clock) => new IssueRates(clock), inject: [Clock] },
    DatabaseProbe,
    PeerWatch,
    Sampler,
    Parts,
    TagViews,
    Monitor,
    TagFeed,
    ServerTags,
    ServerMonitor,
    StreamHub,
  ];
}
