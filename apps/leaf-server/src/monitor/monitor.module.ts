import { Module } from '@nestjs/common';
import { MonitorController } from './monitor.controller';
import { ServerIdentity } from './process/server-identity';
import { TagFeed } from './process/tag-feed';
import { TagViews } from './process/tag-views';
import { IssueRates } from './sampling/issue-rates';
import { PeerWatch } from './sampling/peer-watch';
import { Sampler } from './sampling/sampler';
import { Traffic } from './sampling/traffic';
import { ServerMonitor } from './server/server-monitor';
import { ServerTags } from './server/server-tags';
import { StreamHub } from './stream/stream-hub';

@Module({
  controllers: [MonitorController],
  providers: [
    ...[Traffic, IssueRates, PeerWatch, Sampler],
    ...[ServerIdentity, TagViews, TagFeed],
    ...[ServerTags, ServerMonitor, StreamHub],
  ],
  exports: [IssueRates, ServerTags],
})
export class MonitorModule {}
