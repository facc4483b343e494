import { Injectable, Logger } from '@nestjs/common';
import { Clock, LeafError } from '@leaf-ids/core';
import {
  forEachParallel,
  messageOf,
  PeriodicTask,
  reasonOf,
  serverInstance,
  withinDeadline,
} from '@leaf-ids/core/internal';
import { RELAY_LIMIT_MS } from '../processes/relay';
import { PEER_ROUTE } from '../http/overload/route-kind';
import { ServerIdentity } from '../monitor/process/server-identity';
import { round2 } from '../monitor/sampling/traffic';
import { PeerWatch } from '../monitor/sampling/peer-watch';
import { OwnReport } from './own-report';
import { NO_TOKEN, PARALLEL, PeerClient, type PeerStatus, viewOfReply } from './peer-client';
import { type ClusterAnswer, type ClusterServer, KEPT_MS, MAX_SERVERS } from './views';

const REQUEST = { method: 'GET', path: PEER_ROUTE };
/** Time limit of one response, in milliseconds: a server with a process that hangs responds after its relay's limit. */
const LIMIT_MS = RELAY_LIMIT_MS + 500;
/** Age after which results are not shown, in milliseconds. */
const STALE_MS = 10_000;
/** How long a caller waits for the first round, and for a later one, in milliseconds; then it gets what is known. */
const WAIT_MS = { first: LIMIT_MS + 500, later: 250 };

const BY_NAME = new Intl.Collator('en', { numeric: true });

/**
 * The servers in the registry, each as it reports itself. They are asked in rounds, only while somebody reads the list:
 * one round at a time and at most one a second, however many read it.
 */
@Injectable()
export class ClusterWatch {
  private readonly logger = new Logger(ClusterWatch.name);
  /** This server, as `ip:port`. */
  readonly own: string;
  private readonly round: PeriodicTask;
  private readonly seen = new Map<string, PeerStatus>();
  private endedAt = -Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly client: PeerClient,
    private readonly peers: PeerWatch,
    private readonly report: OwnReport,
    { instance }: ServerIdentity,
  ) {
    this.own = serverInstance(instance);
    this.round = new PeriodicTask(
      'cluster',
      () => this.askAll(),
      clock,
      (error) => this.logger.warn(`Cannot ask the servers of the cluster: ${reasonOf(error)}`),
    );
  }

  async list(): Promise<ClusterAnswer> {
    const now = this.clock.monotonic();
    if (now - this.endedAt >= KEPT_MS) {
      const isStale = now - this.endedAt >= STALE_MS;
      if (isStale && !this.round.snapshot().running) this.forget();
      const waitMs = isStale ? WAIT_MS.first : WAIT_MS.later;
      await withinDeadline(this.round.run(), now + waitMs, this.clock);
    }
    const asked = this.client.isEnabled;
    const workerIds = this.workerIds();
    const servers = this.instances().map((instance) => {
      const self = instance === this.own;
      const workerId = workerIds.get(instance);
      const status = this.seen.get(instance) ?? notAsked(asked || self);
      return { instance, self, ...(workerId === undefined ? {} : { workerId }), ...status };
    });
    return { asked, now: this.clock.now(), servers };
  }

  /** This server, then all others of the registry, as of the last few seconds. */
  async refreshed(): Promise<readonly string[]> {
    await this.peers.refresh();
    const instances = this.instances();
    this.client.retain(new Set(instances));
    return instances;
  }

  private instances(): readonly string[] {
    const others = [...this.workerIds().keys()].filter((instance) => instance !== this.own);
    return [this.own, ...others.sort(BY_NAME.compare)].slice(0, MAX_SERVERS);
  }

  /** The worker ID of each server; of several processes, that of the first. */
  private workerIds(): ReadonlyMap<string, number | undefined> {
    const found = new Map<string, number | undefined>();
    for (const { instance, workerId } of this.peers.list) {
      const server = serverInstance(instance);
      if (server === instance || !found.has(server)) found.set(server, workerId);
    }
    return found;
  }

  /** Drops the reports when the list has not been read for a while; the times of the latest reports stay. */
  private forget(): void {
    for (const [instance, { lastAnsweredAt }] of this.seen) {
      const before = lastAnsweredAt === undefined ? {} : { lastAnsweredAt };
      this.seen.set(instance, { ...notAsked(true), ...before });
    }
  }

  private async askAll(): Promise<void> {
    try {
      const instances = await this.refreshed();
      const known = new Set(instances);
      for (const instance of this.seen.keys()) if (!known.has(instance)) this.seen.delete(instance);
      // Servers that did not report last time take longest.
      const isReporting = (instance: string): boolean => this.seen.get(instance)?.version !== undefined;
      const order = [...instances.filter(isReporting), ...instances.filter((each) => !isReporting(each))];
      await forEachParallel(order, PARALLEL, (instance) => this.ask(instance));
    } finally {
      this.endedAt = this.clock.monotonic();
    }
  }

  private async ask(instance: string): Promise<void> {
    if (instance !== this.own && !this.client.isEnabled) {
      this.seen.delete(instance);
      return;
    }
    const sentAt = this.clock.monotonic();
    const { lastAnsweredAt } = this.seen.get(instance) ?? {};
    const before = lastAnsweredAt === undefined ? {} : { lastAnsweredAt };
    try {
      const status = await this.statusOf(instance);
      const answeredInMs = round2(this.clock.monotonic() - sentAt);
      const answered = status.version === undefined ? before : { lastAnsweredAt: this.clock.now() };
      this.seen.set(instance, { ...status, ...workerIdOf(status), ...answered, answeredInMs });
    } catch (error) {
      const reason =
        error instanceof LeafError
          ? error.message
          : `${this.client.urlOf(instance)} did not respond: ${messageOf(error)}. Check that the server runs, and that its management port is reachable from this server.`;
      this.seen.set(instance, { state: 'silent', reason, ...before });
    }
  }

  private async statusOf(instance: string): Promise<PeerStatus> {
    if (instance !== this.own) return viewOfReply(await this.client.request(instance, REQUEST, LIMIT_MS), instance);
    return this.report.get();
  }
}

function workerIdOf({ snowflake }: Pick<ClusterServer, 'snowflake'>): Pick<ClusterServer, 'workerId'> {
  return snowflake === undefined ? {} : { workerId: snowflake.workerId };
}

function notAsked(enabled: boolean): PeerStatus {
  return { state: 'unasked', reason: enabled ? 'This server has not been asked yet.' : NO_TOKEN };
}
