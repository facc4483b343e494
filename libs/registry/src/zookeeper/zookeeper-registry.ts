import { type Clock, LeafError, type Peer, type TimeSource, WorkerRegistry } from '@leaf/core';
import { ZookeeperFault, type ZookeeperFaultKind } from './zookeeper-fault';
import { ZookeeperPeers } from './zookeeper-peers';
import type { ZookeeperSession } from './zookeeper-session';

export interface ZookeeperRegistryOptions {
  /** Of the service: part of every path. */
  readonly name: string;
  /** Highest worker ID that the bit layout holds. */
  readonly maxWorkerId: number;
  /** The servers and the chroot as an operator knows them, for errors and logs: `zk1:2181,zk2:2181/prod`. */
  readonly zookeeper: string;
  /** Where the other servers reach this one: `http://10.0.0.7:8080`. Without it, nobody compares clocks with it. */
  readonly url?: string;
}

/** What the registries in ZooKeeper share: the list of servers, and what a fault means. Closing it closes the session. */
export abstract class ZookeeperRegistry extends WorkerRegistry {
  readonly description: string;
  /** The node above all records. */
  protected readonly root: string;
  protected readonly directory: ZookeeperPeers;

  /** @param records the path of the records below that of the service */
  protected constructor(
    strategy: string,
    records: string,
    protected readonly session: ZookeeperSession,
    { name, zookeeper, url }: ZookeeperRegistryOptions,
    protected readonly clock: Clock,
  ) {
    super();
    this.root = `/snowflake/${name}/${records}`;
    this.description = `${strategy} (${zookeeper}${this.root})`;
    this.directory = new ZookeeperPeers(session, `/snowflake/${name}/temporary`, url, clock);
  }

  override timeSources(): Promise<TimeSource[]> {
    return this.running(() => this.directory.timeSources());
  }

  override peers(): Promise<Peer[]> {
    return this.running(() => this.directory.list());
  }

  override async close(): Promise<void> {
    await this.session.close();
    await this.directory.settled();
  }

  /**
   * At a start, being kept out is a mistake of the configuration and no outage, which a server might want to get over
   * without the registry.
   */
  protected async starting<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (isFault(error, 'denied')) {
        throw new LeafError(
          'LEAF_CONFIG_INVALID',
          `${this.description} does not let this server in. ${error.message} Set LEAF_ZOOKEEPER_AUTH to the credentials that its nodes belong to.`,
          { cause: error },
        );
      }
      if (isFault(error, 'invalid')) {
        throw new LeafError(
          'LEAF_CONFIG_INVALID',
          `${this.description} cannot be used. ${error.message} Check LEAF_NAME, LEAF_ADVERTISE_HOST and LEAF_ZOOKEEPER.`,
          { cause: error },
        );
      }
      throw this.translated(error);
    }
  }

  protected async running<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      throw this.translated(error);
    }
  }

  /** A write by compare-and-set: the new version, or undefined when the node was written or removed by others. */
  protected async compareAndSet(path: string, data: string, version: number): Promise<number | undefined> {
    try {
      return await this.session.setData(path, data, version);
    } catch (error) {
      if (isFault(error, 'bad-version', 'no-node')) return undefined;
      throw error;
    }
  }

  private translated(error: unknown): unknown {
    if (!(error instanceof ZookeeperFault)) return error;
    return new LeafError(
      'LEAF_REGISTRY_UNREACHABLE',
      `${this.description} cannot be used now. ${error.message} It goes on by itself when it can.`,
      { cause: error, retryAfterMs: 1000 },
    );
  }
}

export function isFault(error: unknown, ...kinds: ZookeeperFaultKind[]): error is ZookeeperFault {
  return error instanceof ZookeeperFault && kinds.includes(error.kind);
}
