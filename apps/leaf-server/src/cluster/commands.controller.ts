import { Body, Controller, HttpCode, Injectable, Post } from '@nestjs/common';
import { Clock, LeafError } from '@leaf-ids/core';
import { forEachParallel, messageOf } from '@leaf-ids/core/internal';
import { type Actor, Audit, CurrentActor } from '../admin/audit';
import { ServerAdmin } from '../admin/server-admin.controller';
import { TagAdmin } from '../admin/tag-admin';
import type { PeerRequest } from '../tokens/cluster-tokens';
import { AdminOnly } from '../admin/admin.guard';
import { BodyPipe } from '../http/responses/body.pipe';
import { ApiJsonBody, ApiOperation, ApiResponse, ApiTags } from '../openapi/decorators';
import { ClusterWatch } from './cluster-watch';
import { PARALLEL, PeerClient, refusalOf } from './peer-client';
import { CommandAnswer, type CommandResult } from './views';
import type * as Bodies from './command-body';

/** Time limit of one server, in milliseconds; longer than it waits for its own processes. */
const LIMIT_MS = 2500;
/** Time after which no further server is asked, in milliseconds. */
const TOTAL_MS = 10_000;

type Result = Omit<CommandResult, 'instance'>;

/** Passes a command to servers of the registry, through the admin route of each, signed with the cluster token. */
@Injectable()
export class ClusterCommands {
  constructor(
    private readonly clock: Clock,
    private readonly cluster: ClusterWatch,
    private readonly client: PeerClient,
    private readonly audit: Audit,
    private readonly server: ServerAdmin,
    private readonly tags: TagAdmin,
  ) {}

  /** @throws LeafError `LEAF_BODY_INVALID` if the tag or the confirmation is missing; no server receives the command in that case */
  async give(by: Actor, body: Bodies.CommandBody): Promise<CommandAnswer> {
    const { order: command, tag } = body;
    assertTagFits(body);
    const known = await this.cluster.refreshed();
    const targets = body.servers ?? known;
    assertConfirmed(body, targets.length);
    const { results } = await this.audit.record(by, `cluster order ${command}`, tag, async () => {
      const found = await this.giveAll(by, body, targets, new Set(known));
      const failed = found.filter(({ done }) => !done).map(({ instance }) => instance);
      return { results: found, after: { done: found.length - failed.length, failed } };
    });
    return { results };
  }

  /** One result for each of `targets`, in their order. */
  private async giveAll(
    by: Actor,
    body: Bodies.CommandBody,
    targets: readonly string[],
    known: ReadonlySet<string>,
  ): Promise<CommandResult[]> {
    const deadline = this.clock.monotonic() + TOTAL_MS;
    const results: CommandResult[] = [];
    await forEachParallel(targets.entries(), PARALLEL, async ([index, instance]) => {
      const result = !known.has(instance)
        ? failed('The worker registry does not list this server.')
        : this.clock.monotonic() < deadline
          ? await this.giveOne(by, body, instance)
          : failed('This server was not asked, because others took too long. Repeat the command for it.');
      results[index] = { instance, ...result };
    });
    return results;
  }

  private async giveOne(by: Actor, body: Bodies.CommandBody, instance: string): Promise<Result> {
    try {
      if (instance === this.cluster.own) {
        await this.obey(by, body);
        return { done: true };
      }
      const reply = await this.client.request(instance, routeOf(body), LIMIT_MS, by.name);
      return reply.status === 200 ? { done: true } : failed(refusalOf(reply));
    } catch (error) {
      if (error instanceof LeafError) return failed(error.message);
      return failed(
        `No response: ${messageOf(error)}. The server may have executed the command; repeating the command is safe.`,
      );
    }
  }

  private async obey(by: Actor, { order: command, tag = '' }: Bodies.CommandBody): Promise<void> {
    switch (command) {
      case 'drain':
      case 'undrain':
        await this.server.setDraining(by, command === 'drain');
        break;
      case 'pause-tag':
      case 'resume-tag':
        await this.tags.setPaused(by, tag, command === 'pause-tag');
    }
  }
}

function routeOf({ order: command, tag = '' }: Bodies.CommandBody): PeerRequest {
  switch (command) {
    case 'drain':
      return { method: 'POST', path: '/api/server/drain' };
    case 'undrain':
      return { method: 'DELETE', path: '/api/server/drain' };
    case 'pause-tag':
      return { method: 'POST', path: `/api/tags/${tag}/pause` };
    case 'resume-tag':
      return { method: 'POST', path: `/api/tags/${tag}/resume` };
  }
}

function assertTagFits({ order: command, tag }: Bodies.CommandBody): void {
  const needsTag = command === 'pause-tag' || command === 'resume-tag';
  if (needsTag === (tag !== undefined)) return;
  throw new LeafError('LEAF_BODY_INVALID', `Invalid body: ${command} ${needsTag ? 'needs a tag' : 'takes no tag'}.`);
}

/** A drained server gets no requests: to drain all by accident stops the service. */
function assertConfirmed({ order: command, confirm }: Bodies.CommandBody, count: number): void {
  if (confirm === undefined ? command !== 'drain' || count === 1 : confirm === String(count)) return;
  throw new LeafError(
    'LEAF_BODY_INVALID',
    `Invalid body: the command is for ${count} servers. Send "confirm": "${count}" to confirm it, or name one server in servers.`,
  );
}

function failed(reason: string): Result {
  return { done: false, reason };
}

const commandBody = async (): Promise<typeof Bodies.CommandBody> => (await import('./command-body.js')).CommandBody;

/** A signature with the cluster token does not open this route, so that a command is passed on once. */
@Controller('api/cluster/orders')
@ApiTags('The cluster')
@AdminOnly()
export class CommandsController {
  constructor(private readonly commands: ClusterCommands) {}

  @Post()
  @ApiOperation({
    operationId: 'orderCluster',
    summary: 'Gives a command to several servers',
    description:
      'Each server gets it through its own admin route, signed with the cluster token. The response tells the result of each; it is 200 even if some failed.',
  })
  @ApiJsonBody(commandBody)
  @ApiResponse({ status: 200, description: 'The result of each server.', type: CommandAnswer })
  @HttpCode(200)
  give(@CurrentActor() by: Actor, @Body(new BodyPipe(commandBody)) body: Bodies.CommandBody): Promise<CommandAnswer> {
    return this.commands.give(by, body);
  }
}
