import type { OutgoingHttpHeaders } from 'node:http';
import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Monitor } from './monitor';
import { PeerWatch } from './sampling/peer-watch';
import { StreamHub } from './stream/stream-hub';
import { TagViews } from './tag-views';
import type { OverviewView, SnowflakeView } from './views';

/** What this server is doing, for everybody who wants to watch. */
@Controller('api/monitor')
export class MonitorController {
  constructor(
    private readonly monitor: Monitor,
    private readonly tags: TagViews,
    private readonly peers: PeerWatch,
    private readonly hub: StreamHub,
  ) {}

  @Get('overview')
  overview(): OverviewView {
    return this.monitor.overview();
  }

  /** Text that is JSON: of many tags it is written slice by slice. */
  @Get('segments')
  segments(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    void reply.header('content-type', 'application/json; charset=utf-8');
    return this.tags.document();
  }

  @Get('snowflake')
  async snowflake(): Promise<SnowflakeView> {
    await this.peers.refresh();
    return this.monitor.snowflake();
  }

  /** @throws LeafError see {@link StreamHub.assertRoom} */
  @Get('stream')
  stream(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.hub.assertRoom();
    reply.hijack();
    const { raw } = reply;
    // Proxies that collect answers before they pass them on are asked not to.
    void reply.headers({ 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
    raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
    if (request.method === 'HEAD') raw.end();
    else this.hub.open(raw);
  }
}
