import { Controller, Get, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { JSON_TYPE } from '../http/fast-path';
import { PEER_ROUTE } from '../http/overload/route-kind';
import { jsonPages, streamBody } from '../http/responses/stream-body';
import { ApiBearerAuth, ApiOperation, ApiResponse, ApiTags } from '../openapi/decorators';
import { ApiProblems } from '../openapi/problems';
import { ClusterGuard } from './cluster.guard';
import { ClusterWatch } from './cluster-watch';
import { OwnReport } from './own-report';
import { ClusterAnswer, ClusterWorkers, ServerReport } from './views';
import { WorkerMap } from './worker-map';

/** All servers of the worker registry, as this one sees them. */
@Controller('api/cluster')
@ApiTags('The cluster')
export class ClusterController {
  constructor(
    private readonly cluster: ClusterWatch,
    private readonly workers: WorkerMap,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'cluster',
    summary: 'All servers in the worker registry, each as it reports itself',
    description:
      'This server asks the others at most once a second for all readers, with requests that `LEAF_CLUSTER_TOKEN` signs. Servers that have not responded yet have their previous state.',
  })
  @ApiResponse({ status: 200, description: 'The servers.', type: ClusterAnswer })
  async list(@Res() reply: FastifyReply): Promise<void> {
    const { servers, ...rest } = await this.cluster.list();
    const tail = ']}';
    const head = JSON.stringify({ ...rest, servers: [] }).slice(0, -tail.length);
    streamBody(
      reply.type(JSON_TYPE),
      jsonPages(head, servers, (server) => server, tail),
      'utf8',
    );
  }

  @Get('workers')
  @ApiOperation({
    operationId: 'clusterWorkers',
    summary: 'The worker IDs of the registry, with their holders',
    description: 'The registry is read at most once a second for all readers.',
  })
  @ApiResponse({ status: 200, description: 'The worker IDs.', type: ClusterWorkers })
  @ApiProblems('LEAF_REGISTRY_UNREACHABLE')
  map(): Promise<ClusterWorkers> {
    return this.workers.view();
  }
}

/** The route that other servers request. It sends no requests itself, so that requests never form a loop. */
@Controller(PEER_ROUTE)
@ApiTags('The cluster')
@UseGuards(ClusterGuard)
@ApiBearerAuth()
export class PeerController {
  constructor(private readonly own: OwnReport) {}

  @Get()
  @ApiOperation({
    operationId: 'serverReport',
    summary: 'This server, for the other servers of the cluster',
    description: 'The bearer token is a JWT that another server signs for this request with `LEAF_CLUSTER_TOKEN`.',
  })
  @ApiResponse({ status: 200, description: 'As of now, or of less than a second ago.', type: ServerReport })
  report(): Promise<ServerReport> {
    return this.own.get();
  }
}
