import { Controller, Get, Injectable, Optional, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Clock, formatInstance, type StoredWorker } from '@leaf-ids/core';
import { windowOf } from '@leaf-ids/core/internal';
import { SnowflakeService } from '@leaf-ids/id';
import { ClusterTokens } from '../tokens/cluster-tokens';
import { FailureLimit, TokenCheck, TokenGuard } from '../tokens/token-check';
import { bearerOf } from '../tokens/token-set';
import { CachedRead } from '../monitor/sampling/cached-read';
import { JSON_TYPE } from '../http/fast-path';
import { PEER_ROUTE } from '../http/overload/route-kind';
import { jsonPages, streamBody } from '../http/responses/stream-body';
import { ApiBearerAuth, ApiOperation, ApiResponse, ApiTags } from '../openapi/decorators';
import { ApiProblems } from '../openapi/problems';
import { ClusterAnswer, type ClusterWorker, ClusterWorkers, KEPT_MS, ServerReport } from './views';
import { ClusterWatch } from './cluster-watch';
import { OwnReport } from './own-report';

const RULE = {
  needed:
    'This route is for other servers of the cluster. It requires the header "Authorization: Bearer <JWT>" with a JWT that was signed for this request to this server, with the same LEAF_CLUSTER_TOKEN, within the last minute.',
  countsMissing: true,
};

/** Admits requests that another server signed. */
@Injectable()
export class ClusterGuard extends TokenGuard {
  private readonly check: TokenCheck;

  constructor(
    private readonly tokens: ClusterTokens,
    clock: Clock,
  ) {
    super();
    this.check = new TokenCheck(RULE, new FailureLimit(clock));
  }

  /** @throws LeafError `LEAF_UNAUTHORIZED`, `LEAF_TOO_MANY_FAILURES` */
  override admit(request: FastifyRequest, reply: FastifyReply): void {
    const { method, url: path } = request;
    this.check.require(request, reply, (authorization) =>
      this.tokens.verify(bearerOf(authorization), { method, path }),
    );
  }
}

/** The records of the worker IDs in the registry, which is read at most once a second. */
@Injectable()
export class WorkerMap {
  private readonly records: CachedRead<readonly StoredWorker[]> | undefined;

  constructor(
    private readonly clock: Clock,
    @Optional() private readonly snowflake?: SnowflakeService,
  ) {
    this.records = snowflake && new CachedRead(() => snowflake.records(), KEPT_MS, clock);
  }

  /** @throws LeafError `LEAF_REGISTRY_UNREACHABLE` */
  async view(): Promise<ClusterWorkers> {
    const records = (await this.records?.get()) ?? [];
    const now = this.clock.now();
    const workers = records.map((stored) => toView(stored, now)).sort((a, b) => a.workerId - b.workerId);
    return { workerIds: this.snowflake === undefined ? 0 : this.snowflake.layout.maxWorkerId + 1, now, workers };
  }
}

function toView({ workerId, record }: StoredWorker, now: number): ClusterWorker {
  const { instance, ceiling, free } = record;
  const window = windowOf(record);
  return {
    workerId,
    kind: window === undefined ? 'server' : 'window',
    holder: window?.holder ?? formatInstance(instance),
    state: free ? 'released' : ceiling > now ? 'held' : 'expired',
    ceiling,
  };
}

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
