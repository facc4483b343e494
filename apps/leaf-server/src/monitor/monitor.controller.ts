import type { OutgoingHttpHeaders } from 'node:http';
import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { JSON_TYPE } from '../http/fast-path';
import { streamBody } from '../http/responses/stream-body';
import { Describe, json } from '../openapi/route-description';
import { PeerWatch } from './sampling/peer-watch';
import { StreamHub } from './stream/stream-hub';
import { ServerMonitor } from './server/server-monitor';
import { ServerTags } from './server/server-tags';
import { EVENTS, OVERVIEW, SEGMENTS, SNOWFLAKE } from './views/view-schemas';
import type { OverviewView, SnowflakeView } from './views/views';

const STREAM_DETAIL =
  `\`overview\`, \`segments\` and \`snowflake\` carry what the routes of the same names answer. The first round has
everything, each later one only the new steps of the history and the tags that changed; \`removed\`, an object with a list
\`tags\`, names those that are gone. A round has up to 250 tags in an event and ends with \`snowflake\`. At most 32 streams
are fed at once.`.replaceAll('\n', ' ');

/** What this server is doing, for everybody who wants to watch. */
@Controller('api/monitor')
export class MonitorController {
  constructor(
    private readonly monitor: ServerMonitor,
    private readonly tags: ServerTags,
    private readonly peers: PeerWatch,
    private readonly hub: StreamHub,
  ) {}

  @Get('overview')
  @Describe({
    id: 'monitorOverview',
    group: 'Watching',
    summary: 'This server, its parts, its traffic of the last 15 minutes',
    answers: { 200: json(OVERVIEW, 'As of now; nothing of it waits for the database.') },
  })
  overview(): Promise<OverviewView> {
    return this.monitor.overview();
  }

  @Get('segments')
  @Describe({
    id: 'monitorSegments',
    group: 'Watching',
    summary: 'The segments of every tag that this server knows',
    answers: { 200: json(SEGMENTS, 'All tags; `/metrics` has the first 1000 in use.') },
  })
  async segments(@Res() reply: FastifyReply): Promise<void> {
    const pieces = await this.tags.document();
    streamBody(reply.type(JSON_TYPE), pieces, 'utf8');
  }

  @Get('snowflake')
  @Describe({
    id: 'monitorSnowflake',
    group: 'Watching',
    summary: 'The worker ID, its lease, and the servers beside this one',
    answers: { 200: json(SNOWFLAKE, 'As of now; the other servers as of some seconds ago.') },
  })
  async snowflake(): Promise<SnowflakeView> {
    await this.peers.refresh();
    return this.monitor.snowflake();
  }

  /** @throws LeafError see {@link StreamHub.assertRoom} */
  @Get('stream')
  @Describe({
    id: 'monitorStream',
    group: 'Watching',
    summary: 'All of this as server-sent events, a round each second',
    detail: STREAM_DETAIL,
    answers: { 200: { description: 'Events without an end.', type: 'text/event-stream', schema: EVENTS } },
    problems: ['LEAF_OVERLOADED', 'LEAF_NOT_READY'],
  })
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
