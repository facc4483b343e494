import { Module } from '@nestjs/common';
import { MonitorController } from './monitor.controller';
import { ServerIdentity } from './process/server-identity';
import { TagChangeFeed } from './process/tag-change-log';
import { TagViews } from './process/tag-views';
import { Exhaustion, IssueRates } from './sampling/issue-rates';
import { PeerWatch } from './sampling/peer-watch';
import { Sampler } from './sampling/sampler';
import { Traffic } from './sampling/traffic';
import { AggregatedMonitor } from './server/aggregated-monitor';
import { AggregatedTags } from './server/aggregated-tags';
import { StreamHub } from './stream/stream-hub';

@Module({
  controllers: [MonitorController],
  providers: [
    ...[Traffic, IssueRates, Exhaustion, PeerWatch, Sampler],
    ...[ServerIdentity, TagViews, TagChangeFeed],
    ...[AggregatedTags, AggregatedMonitor, StreamHub],
  ],
  exports: [IssueRates, Exhaustion, PeerWatch, ServerIdentity, AggregatedTags, AggregatedMonitor],
})
export class MonitorModule {}
