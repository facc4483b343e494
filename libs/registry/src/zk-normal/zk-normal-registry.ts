import {
  type CeilingProposal,
  type Clock,
  formatInstance,
  LeafError,
  type LeaseHolder,
  type WorkerClaim,
  type WorkerUsage,
} from '@leaf/core';
import { isFault, ZookeeperRegistry, type ZookeeperRegistryOptions } from '../zookeeper/zookeeper-registry';
import type { ZookeeperSession } from '../zookeeper/zookeeper-session';
import {
  formatNodeData,
  nodePrefix,
  type NormalNode,
  parseCeiling,
  parseNodeName,
  SEQUENCE_DIGITS,
} from './normal-node';
import { OwnWrites } from './own-writes';

/** A twin on the same `ip:port` can get in between a read and its compare-and-set, but not for ever. */
const ATTEMPTS = 20;

/**
 * Worker IDs from `/snowflake/<name>/forever`: a persistent sequential node for each `ip:port`, its sequence the worker
 * ID, its data the ceiling in the format of the Java service. A claim's version is the version of the node, as text: a
 * later process that was told it can go on with the claim.
 *
 * The data has no room for a lease ID. What a write without an answer has left is known by version and ceiling:
 *
 * - An acquisition leaves an odd ceiling, an extension an even one, a release any.
 * - Version *v* is the work of one writer, and only a claim of that writer names it. So a write from *v* is either our
 *   own or an acquisition: another holder's extensions and releases come after an acquisition of its own, at *v* + 2 or
 *   above.
 * - An acquisition is odd, hence never the even ceiling of our extension. It is above the ceiling of *v*, hence never
 *   that of our release, which is at or below it.
 *
 * Version *v* + 1 with a ceiling that we have tried to write over *v* is therefore our own work. The Java service, which
 * compares nothing and writes odd and even times, would have to hit the very millisecond.
 */
export class ZkNormalRegistry extends ZookeeperRegistry {
  private own: OwnWrites | undefined;
  private node: NormalNode | undefined;

  constructor(
    session: ZookeeperSession,
    private readonly options: ZookeeperRegistryOptions,
    clock: Clock,
  ) {
    super('zk_normal', 'forever', session, options, clock);
  }

  acquire(holder: LeaseHolder, propose: CeilingProposal): Promise<WorkerClaim> {
    return this.starting(async () => {
      await this.session.ensurePath(this.root);
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const node = await this.provide(holder);
        const claim = node && (await this.take(node, holder, propose));
        if (claim !== undefined) return claim;
      }
      throw new LeafError(
        'LEAF_WORKER_HELD',
        `The worker of ${formatInstance(holder)} in ${this.description} was taken over by others ${ATTEMPTS} times in a row. Give every server an address and port of its own: LEAF_ADVERTISE_HOST, LEAF_ADVERTISE_PORT.`,
      );
    });
  }

  extend(claim: WorkerClaim, wanted: number): Promise<WorkerClaim> {
    return this.running(async () => {
      const own = this.ownWrites(claim);
      if (own.released) throw this.lost(claim, 'it was given back');
      const node = await this.nodeOf(claim);
      const ceiling = await this.rewrite(node, own, even(wanted), (found) => found >= wanted);
      this.directory.announce(node.instance, node.workerId);
      return { ...claim, ceiling, version: String(own.head) };
    });
  }

  release(claim: WorkerClaim, ceiling: number): Promise<void> {
    return this.running(async () => {
      const own = this.ownWrites(claim);
      own.released = true;
      await this.rewrite(await this.nodeOf(claim), own, ceiling, (found) => found === ceiling);
    });
  }

  /** ZooKeeper numbers new nodes from 0 upwards: what lies below the highest is not given again. */
  override usage(): Promise<WorkerUsage> {
    return this.running(async () => {
      const most = this.options.maxWorkerId + 1;
      const given = (await this.nodes()).map(({ workerId }) => workerId + 1);
      return { used: Math.min(Math.max(0, ...given), most), most };
    });
  }

  /** Undefined when others have written or removed the node meanwhile. */
  private async take(
    node: NormalNode,
    holder: LeaseHolder,
    propose: CeilingProposal,
  ): Promise<WorkerClaim | undefined> {
    const { workerId } = node;
    const path = this.path(node);
    const found = await this.session.getData(path);
    if (found === undefined) return undefined;
    const previousCeiling = parseCeiling(found.data);
    if (previousCeiling === undefined) throw this.unreadable(path);
    const ceiling = odd(propose(previousCeiling));
    const version = await this.compareAndSet(path, formatNodeData(holder, ceiling), found.version);
    if (version === undefined) return undefined;
    this.own = new OwnWrites(workerId, version);
    this.node = node;
    this.directory.announce(holder, workerId);
    return { workerId, previousCeiling, ceiling, version: String(version) };
  }

  /** @returns the ceiling that is now recorded: the one asked for, or an earlier one of ours that will do */
  private async rewrite(
    node: NormalNode,
    own: OwnWrites,
    ceiling: number,
    willDo: (recorded: number) => boolean,
  ): Promise<number> {
    const path = this.path(node);
    for (;;) {
      const version = await this.write(path, own, formatNodeData(node.instance, ceiling), ceiling);
      if (version !== undefined) {
        own.advance(version);
        return ceiling;
      }
      const found = await this.session.getData(path);
      // Another server of the ensemble, which has not heard of the refusal yet.
      if (found?.version === own.head) continue;
      const recorded = found && parseCeiling(found.data);
      if (found === undefined || recorded === undefined || !own.explain(found.version, recorded)) {
        throw this.lost(node, 'its node was written or removed by somebody else');
      }
      own.advance(found.version);
      if (willDo(recorded)) return recorded;
    }
  }

  private async write(path: string, own: OwnWrites, data: string, ceiling: number): Promise<number | undefined> {
    try {
      return await this.compareAndSet(path, data, own.head);
    } catch (error) {
      if (isFault(error, 'unknown-outcome')) own.wentUnanswered(ceiling);
      throw error;
    }
  }

  /**
   * The node of this instance: of several, which a lost answer to a create or a twin leaves, the lowest. It is looked up
   * again after it was made, since only then what others have made before is sure to be seen.
   */
  private async provide(holder: LeaseHolder): Promise<NormalNode | undefined> {
    let node = await this.find(holder);
    if (node === undefined) {
      await this.session.create(`${this.root}/${nodePrefix(holder)}`, formatNodeData(holder, 0), 'sequential');
      node = await this.find(holder);
    }
    if (node === undefined || node.workerId <= this.options.maxWorkerId) return node;
    throw new LeafError(
      'LEAF_WORKERS_USED_UP',
      `${this.description} gave ${formatInstance(holder)} worker ID ${node.workerId}, but the bit layout holds 0 to ${this.options.maxWorkerId}, and ${this.root} never gives one twice. Keep address and port of a server over its restarts (LEAF_ADVERTISE_HOST, LEAF_ADVERTISE_PORT), or use the registry zk_recycle, which gives worker IDs again.`,
    );
  }

  private async find(holder: LeaseHolder): Promise<NormalNode | undefined> {
    const prefix = nodePrefix(holder);
    const own = (await this.nodes()).filter(({ name }) => name.slice(0, -SEQUENCE_DIGITS) === prefix);
    return own.sort((a, b) => a.workerId - b.workerId)[0];
  }

  private async nodes(): Promise<NormalNode[]> {
    const names = await this.session.children(this.root);
    return names.flatMap((name) => parseNodeName(name) ?? []);
  }

  private ownWrites({ workerId, version }: WorkerClaim): OwnWrites {
    const number = Number(version);
    if (this.own?.includes(workerId, number) !== true) this.own = new OwnWrites(workerId, number);
    return this.own;
  }

  /** That of the acquisition, or, for a claim of an earlier process, the one with its sequence. */
  private async nodeOf(claim: WorkerClaim): Promise<NormalNode> {
    if (this.node?.workerId !== claim.workerId) {
      this.node = (await this.nodes()).find(({ workerId }) => workerId === claim.workerId);
    }
    if (this.node === undefined) throw this.lost(claim, 'its node was removed');
    return this.node;
  }

  private path({ name }: NormalNode): string {
    return `${this.root}/${name}`;
  }

  private unreadable(path: string): LeafError {
    return new LeafError(
      'LEAF_WORKER_FILE_INVALID',
      `The node ${path} of ${this.description} cannot be trusted: it has no timestamp in Unix milliseconds. It was left as it is. Give it its data back, {"ip":…,"port":…,"timestamp":…} with a time not before its newest ID, or remove it: this server then gets another worker ID.`,
    );
  }

  private lost({ workerId }: { readonly workerId: number }, why: string): LeafError {
    return new LeafError(
      'LEAF_LEASE_LOST',
      `Worker ${workerId} of ${this.description} is no longer ours: ${why}. Give every server an address and port of its own, and restart this one.`,
    );
  }
}

function odd(ceiling: number): number {
  return ceiling % 2 === 0 ? ceiling + 1 : ceiling;
}

function even(ceiling: number): number {
  return ceiling % 2 === 0 ? ceiling : ceiling + 1;
}
