import type { OutgoingHttpHeaders } from 'node:http';
import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { JSON_TYPE } from '../http/fast-path';
import { streamBody } from '../http/responses/stream-body';
import { ApiOperation, ApiResponse, ApiTags } from '../openapi/decorators';
import { ApiPage, linkNext, NEXT_PAGE, pageRequest } from '../openapi/paging';
import { ApiProblems } from '../openapi/problems';
import { contentOf } from '../openapi/schemas';
import { networkOf } from '../tokens/client-network';
import { PeerWatch } from './sampling/peer-watch';
import { StreamHub } from './stream/stream-hub';
import { AggregatedMonitor } from './server/aggregated-monitor';
import { AggregatedTags } from './server/aggregated-tags';
import { OverviewView } from './views/overview';
import { SegmentsView } from './views/segments';
import { SnowflakeView } from './views/snowflake';

const STREAM_DETAIL =
  `\`overview\`, \`segments\` and \`snowflake\` carry what the routes of the same names answer. The first round has
everything, each later one only the new steps of the history and the tags that changed; \`removed\`, an object with a list
\`tags\`, names those that are gone. A round has up to 250 tags in an event and ends with \`snowflake\`. At most 32 streams
are open at once, 16 of them to one address or IPv6 network.`.replaceAll('\n', ' ');

/** Events of one round of the stream. */
const EVENTS = contentOf(
  'text/event-stream',
  'Events with a name and a line of JSON.',
  ['overview', 'segments', 'snowflake'].map((name) => `event: ${name}\ndata: {…}`).join('\n\n'),
);

/** State of this server; needs no token. */
@Controller('api/monitor')
@ApiTags('Watching')
export class MonitorController {
  constructor(
    private readonly monitor: AggregatedMonitor,
    private readonly tags: AggregatedTags,
    private readonly peers: PeerWatch,
    private readonly hub: StreamHub,
  ) {}

  @Get('overview')
  @ApiOperation({
    operationId: 'monitorOverview',
    summary: 'This server, its parts, its traffic of the last 15 minutes',
  })
  @ApiResponse({
    status: 200,
    description: 'As of now; nothing of it waits for the database.',
    type: OverviewView,
  })
  overview(): Promise<OverviewView> {
    return this.monitor.overview();
  }

  @Get('segments')
  @ApiOperation({
    operationId: 'monitorSegments',
    summary: 'The segments of the tags that this server knows, by name and page by page',
  })
  @ApiPage()
  @ApiResponse({
    status: 200,
    description: 'The tags of the page; `/metrics` has the first 1000 in use.',
    type: SegmentsView,
    headers: NEXT_PAGE,
  })
  async segments(
    @Query('after') from: unknown,
    @Query('limit') most: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const request = pageRequest(from, most);
    const { tags, end } = await this.tags.page(request);
    linkNext(reply, end, request.limit);
    streamBody(reply.type(JSON_TYPE), this.tags.document(tags), 'utf8');
  }

  @Get('snowflake')
  @ApiOperation({
    operationId: 'monitorSnowflake',
    summary: 'The worker ID, its lease, and the servers beside this one',
  })
  @ApiResponse({
    status: 200,
    description: 'As of now; the other servers as of some seconds ago.',
    type: SnowflakeView,
  })
  async snowflake(): Promise<SnowflakeView> {
    await this.peers.refresh();
    return this.monitor.snowflake();
  }

  /** @throws LeafError see {@link StreamHub.assertRoom} */
  @Get('stream')
  @ApiOperation({
    operationId: 'monitorStream',
    summary: 'All of this as server-sent events, a round each second',
    description: STREAM_DETAIL,
  })
  @ApiResponse({ status: 200, description: 'Events without an end.', ...EVENTS })
  @ApiProblems('LEAF_OVERLOADED', 'LEAF_NOT_READY')
  stream(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const client = networkOf(request.ip);
    this.hub.assertRoom(client);
    reply.hijack();
    const { raw } = reply;
    // Proxies that collect answers before they pass them on are asked not to.
    void reply.headers({ 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
    raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
    if (request.method === 'HEAD') raw.end();
    else this.hub.open(raw, client);
  }
}
