import { Injectable } from '@nestjs/common';
import { Clock, LeafError } from '@leaf-ids/core';
import { forEachParallel, messageOf } from '@leaf-ids/core/internal';
import { type Actor, Audit } from '../admin/audit';
import { ServerAdmin } from '../admin/server-admin';
import { TagAdmin } from '../admin/tag-admin';
import type { PeerRequest } from '../tokens/cluster-tokens';
import { ClusterWatch } from './cluster-watch';
import type { OrderBody } from './order-body';
import { PARALLEL, PeerClient, refusalOf } from './peer-client';
import type { OrderAnswer, OrderResult } from './views';

/** Time limit of one server, in milliseconds; longer than it waits for its own processes. */
const LIMIT_MS = 2500;
/** Time after which no further server is asked, in milliseconds. */
const TOTAL_MS = 10_000;

type Result = Omit<OrderResult, 'instance'>;

/** Passes an order to servers of the registry, through the admin route of each, signed with the cluster token. */
@Injectable()
export class ClusterOrders {
  constructor(
    private readonly clock: Clock,
    private readonly cluster: ClusterWatch,
    private readonly client: PeerClient,
    private readonly audit: Audit,
    private readonly server: ServerAdmin,
    private readonly tags: TagAdmin,
  ) {}

  /** @throws LeafError `LEAF_BODY_INVALID` if the tag or the confirmation is missing; no server receives the order in that case */
  async give(by: Actor, body: OrderBody): Promise<OrderAnswer> {
    const { order, tag } = body;
    assertTagFits(body);
    const known = await this.cluster.refreshed();
    const targets = body.servers ?? known;
    assertConfirmed(body, targets.length);
    const { results } = await this.audit.record(by, `cluster order ${order}`, tag, async () => {
      const found = await this.giveAll(by, body, targets, new Set(known));
      const failed = found.filter(({ done }) => !done).map(({ instance }) => instance);
      return { results: found, after: { done: found.length - failed.length, failed } };
    });
    return { results };
  }

  /** One result for each of `targets`, in their order. */
  private async giveAll(
    by: Actor,
    body: OrderBody,
    targets: readonly string[],
    known: ReadonlySet<string>,
  ): Promise<OrderResult[]> {
    const deadline = this.clock.monotonic() + TOTAL_MS;
    const results: OrderResult[] = [];
    await forEachParallel(targets.entries(), PARALLEL, async ([index, instance]) => {
      const result = !known.has(instance)
        ? failed('The worker registry does not list this server.')
        : this.clock.monotonic() < deadline
          ? await this.giveOne(by, body, instance)
          : failed('This server was not asked, because others took too long. Repeat the order for it.');
      results[index] = { instance, ...result };
    });
    return results;
  }

  private async giveOne(by: Actor, body: OrderBody, instance: string): Promise<Result> {
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
        `No response: ${messageOf(error)}. The server may have executed the order; repeating the order is safe.`,
      );
    }
  }

  private async obey(by: Actor, { order, tag = '' }: OrderBody): Promise<void> {
    switch (order) {
      case 'drain':
      case 'undrain':
        await this.server.setDraining(by, order === 'drain');
        break;
      case 'pause-tag':
      case 'resume-tag':
        await this.tags.setPaused(by, tag, order === 'pause-tag');
    }
  }
}

function routeOf({ order, tag = '' }: OrderBody): PeerRequest {
  switch (order) {
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

function assertTagFits({ order, tag }: OrderBody): void {
  const needsTag = order === 'pause-tag' || order === 'resume-tag';
  if (needsTag === (tag !== undefined)) return;
  throw new LeafError('LEAF_BODY_INVALID', `Invalid body: ${order} ${needsTag ? 'needs a tag' : 'takes no tag'}.`);
}

/** A drained server gets no requests: to drain all by accident stops the service. */
function assertConfirmed({ order, confirm }: OrderBody, count: number): void {
  if (confirm === undefined ? order !== 'drain' || count === 1 : confirm === String(count)) return;
  throw new LeafError(
    'LEAF_BODY_INVALID',
    `Invalid body: the order is for ${count} servers. Send "confirm": "${count}" to confirm it, or name one server in servers.`,
  );
}

function failed(reason: string): Result {
  return { done: false, reason };
}
