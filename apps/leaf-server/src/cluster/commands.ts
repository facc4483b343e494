import { Injectable } from '@nestjs/common';
import { Clock, LeafError } from '@leaf-ids/core';
import { forEachParallel, messageOf } from '@leaf-ids/core/internal';
import { type Actor, Audit } from '../admin/audit';
import { ServerAdmin } from '../admin/server-admin';
import { TagAdmin } from '../admin/tag-admin';
import type { PeerRequest } from '../tokens/cluster-tokens';
import { ClusterWatch } from './cluster-watch';
import type { CommandBody } from './command-body';
import { PARALLEL, PeerClient, refusalOf } from './peer-client';
import type { CommandAnswer, CommandResult } from './views';

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
  async give(by: Actor, body: CommandBody): Promise<CommandAnswer> {
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
    body: CommandBody,
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

  private async giveOne(by: Actor, body: CommandBody, instance: string): Promise<Result> {
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

  private async obey(by: Actor, { order: command, tag = '' }: CommandBody): Promise<void> {
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

function routeOf({ order: command, tag = '' }: CommandBody): PeerRequest {
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

function assertTagFits({ order: command, tag }: CommandBody): void {
  const needsTag = command === 'pause-tag' || command === 'resume-tag';
  if (needsTag === (tag !== undefined)) return;
  throw new LeafError('LEAF_BODY_INVALID', `Invalid body: ${command} ${needsTag ? 'needs a tag' : 'takes no tag'}.`);
}

/** A drained server gets no requests: to drain all by accident stops the service. */
function assertConfirmed({ order: command, confirm }: CommandBody, count: number): void {
  if (confirm === undefined ? command !== 'drain' || count === 1 : confirm === String(count)) return;
  throw new LeafError(
    'LEAF_BODY_INVALID',
    `Invalid body: the command is for ${count} servers. Send "confirm": "${count}" to confirm it, or name one server in servers.`,
  );
}

function failed(reason: string): Result {
  return { done: false, reason };
}
