import {
  type Clock,
  formatInstance,
  type Instance,
  LeafError,
  parseRegistryDocument,
  type Peer,
  type RegistryDocument,
  type StoredRegistry,
  type StoredWorker,
  type TimeSource,
  type WorkerRecord,
  WorkerStore,
} from '@leaf-ids/core';
import { unavailable, unreadable, unusable } from '../shared/store-errors';
import {
  FORK,
  formatToken,
  NO_TOKEN,
  type NodeLayout,
  type NodeName,
  parseToken,
  PLAIN,
  type ReadableLayout,
  SEQUENTIAL,
  type Token,
} from './node-layout';
import { isFault, ZookeeperFault, type ZookeeperFaultKind } from './zookeeper-fault';
import { ZookeeperPeers } from './zookeeper-peers';
import type { ZookeeperCalls, ZookeeperNode } from './zookeeper-session';

/** Maximum number of concurrent reads. */
const PIPELINE = 256;
/** Constant, because a ZooKeeper server that confirms a write has all earlier writes. */
const ORIGIN = 'zookeeper';
/** What an operator must do, by the kind of the fault. */
const REMEDIES: { readonly [Kind in ZookeeperFaultKind]?: string } = {
  denied: 'Set the option snowflake.registry.zookeeper.auth to the credentials that own its nodes.',
  invalid:
    'Check the option snowflake.registry.name, the option snowflake.instance.ip and the option snowflake.registry.zookeeper.address.',
};

export interface ZookeeperStoreOptions {
  /** Name of the service, part of every path. */
  readonly name: string;
  /** The servers and the chroot, for errors and logs: `zk1:2181,zk2:2181/prod`. */
  readonly zookeeper: string;
  /** URL of this server for other servers: `http://10.0.0.7:8080`. If omitted, no server compares clocks with it. */
  readonly url?: string;
}

/**
 * Stores workers as ZooKeeper nodes, and uses the node versions for compare-and-set.
 *
 * ZooKeeper compares only the version, and the versions of a new node start at 0: a node that was removed and created
 * again may have the version that was read. Therefore the node and its data are compared as well, in the session of the
 * write, and the reply to the write names the node that was written. If the node was created again between the two, the
 * write has replaced the record of another server. Then the registry begins a new history, in which every holder
 * registers again and nobody acquires (R5), and the writer loses its lease.
 *
 * If names include an instance, two nodes can have the same number. The worker belongs to the node that was created
 * first; the others are ignored.
 */
export class ZookeeperWorkerStore extends WorkerStore {
  readonly description: string;
  private readonly parent: string;
  private readonly root: string;
  private readonly registry: string;
  private readonly directory: ZookeeperPeers;

  /** @param session the store closes it */
  constructor(
    private readonly session: ZookeeperCalls,
    private readonly layout: NodeLayout,
    { name, zookeeper, url }: ZookeeperStoreOptions,
    clock: Clock,
  ) {
    super();
    this.parent = `/snowflake/${name}`;
    this.root = `${this.parent}/${layout.records}`;
    // Both layouts share one document, because they assign the same worker IDs.
    this.registry = `${this.parent}/registry`;
    this.description = `${zookeeper}${this.root}`;
    this.directory = new ZookeeperPeers(session, `${this.parent}/temporary`, url, clock);
  }

  readRegistry(): Promise<StoredRegistry> {
    return this.translated(async () => {
      const node = await this.session.getData(this.registry);
      if (node === undefined) {
        const { generation } = this.session.snapshot();
        return { document: undefined, origin: ORIGIN, version: formatToken({ ...NO_TOKEN, session: generation }) };
      }
      const document = parseRegistryDocument(node.data);
      if (document === undefined) throw unreadable(this.description, `node ${this.registry}`);
      return { document, origin: ORIGIN, version: formatToken(node) };
    });
  }

  writeRegistry(read: StoredRegistry, document: RegistryDocument): Promise<boolean> {
    return this.translated(async () => {
      const data = JSON.stringify(document);
      if (read.document !== undefined) {
        return (await this.compareAndSet(this.registry, parseToken(read.version), data)) !== undefined;
      }
      await this.session.ensurePath(this.registry.slice(0, this.registry.lastIndexOf('/')));
      return (await this.make(this.registry, data, 'persistent')) !== undefined;
    });
  }

  list(instance?: Instance): Promise<StoredWorker[]> {
    return this.translated(async () => {
      const asked = instance && formatInstance(instance);
      const isAsked = (other: Instance | undefined): boolean =>
        asked === undefined || other === undefined || formatInstance(other) === asked;
      const names = await this.names();
      const numbers = new Set(names.filter((name) => isAsked(name.instance)).map(({ workerId }) => workerId));
      const found = await this.readAll(
        names.filter(({ workerId }) => numbers.has(workerId)),
        (name) => asked !== undefined && name.instance !== undefined,
      );
      return found.filter(({ record }) => isAsked(record.instance));
    });
  }

  read(workerId: number): Promise<StoredWorker | undefined> {
    return this.translated(() => this.find(workerId));
  }

  create(
    registry: StoredRegistry,
    record: WorkerRecord,
    workerId: number | undefined,
  ): Promise<StoredWorker | undefined> {
    return this.translated(async () => {
      const written = this.layout.normalize(record);
      const wanted = `${this.root}/${this.layout.nameOf(workerId, record.instance)}`;
      // Every sequential node uses a number, even if it is removed immediately.
      if (workerId !== undefined && (await this.find(workerId)) !== undefined) return undefined;
      await this.session.ensurePath(this.root);
      const kind = workerId === undefined ? 'sequential' : 'persistent';
      // In another session, the history may have changed; the caller reads the registry again.
      const path = await this.make(wanted, this.layout.encode(written), kind, parseToken(registry.version).session);
      const name = path === undefined ? undefined : this.layout.parseName(path.slice(this.root.length + 1));
      if (path === undefined || name === undefined) return undefined;
      const first = await this.find(name.workerId);
      const isOurs = first?.record.leaseId === written.leaseId && first?.record.write === written.write;
      if (first !== undefined && this.pathOf(first) !== path) {
        await this.session.remove(path, 0).catch(() => undefined);
        return undefined;
      }
      return isOurs ? first : undefined;
    });
  }

  replace(read: StoredWorker, record: WorkerRecord): Promise<StoredWorker | undefined> {
    return this.translated(async () => {
      const written = this.layout.normalize(record);
      const data = this.layout.encode(written);
      const token = await this.compareAndSet(this.pathOf(read), parseToken(read.version), data);
      return token && { workerId: read.workerId, record: written, version: formatToken(token) };
    });
  }

  override announce(instance: Instance, workerId: number): void {
    this.directory.announce(instance, workerId);
  }

  /** Records of the other layout, and of the pool of the Java fork, under the same name. */
  override otherStrategies(mayBeUsed: (record: WorkerRecord) => boolean): Promise<string | undefined> {
    return this.translated(async () => {
      for (const layout of [this.layout === PLAIN ? SEQUENTIAL : PLAIN, FORK]) {
        const root = `${this.parent}/${layout.records}`;
        const others = await this.readAll(await this.names(root, layout), () => false, root, layout);
        const up = others.filter(({ record }) => mayBeUsed(record));
        if (up.length > 0) return `${up.length} worker IDs in use below ${root}`;
      }
      return undefined;
    });
  }

  override peers(): Promise<Peer[]> {
    return this.translated(() => this.directory.list());
  }

  override timeSources(): Promise<TimeSource[]> {
    return this.translated(() => this.directory.timeSources());
  }

  override abort(): Promise<void> {
    return this.session.close();
  }

  override async close(): Promise<void> {
    await this.session.close();
    await this.directory.settled();
  }

  /** @returns undefined if the node exists or the session has changed */
  private async make(
    path: string,
    data: string,
    kind: 'persistent' | 'sequential',
    session?: number,
  ): Promise<string | undefined> {
    try {
      return await this.session.create(path, data, kind, session);
    } catch (error) {
      if (isFault(error, 'node-exists', 'other-session')) return undefined;
      throw error;
    }
  }

  /**
   * @returns undefined if the node has changed since it was read
   * @throws LeafError `LEAF_LEASE_LOST` if the write has replaced another node
   */
  private async compareAndSet(path: string, read: Token, data: string): Promise<Token | undefined> {
    for (;;) {
      const node = await this.session.getData(path);
      const isSame = node?.created === read.created && node.version === read.version && node.data === read.data;
      if (!isSame) return undefined;
      const { session } = node;
      try {
        const written = await this.session.setData(path, data, read.version, session);
        if (written.created === read.created) return { ...written, session, data };
        // This server must not go on in any case. A failure here costs the other holder its lease at its next report.
        await this.forgetRegistry().catch(() => undefined);
        throw new LeafError(
          'LEAF_LEASE_LOST',
          `The node ${path} of ${this.description} was removed and created again while this server wrote it. Restart this server, and do not remove nodes while servers run.`,
        );
      } catch (error) {
        if (isFault(error, 'bad-version', 'no-node')) return undefined;
        if (!isFault(error, 'other-session')) throw error;
      }
    }
  }

  /** Removes the document, so that all servers see that history was lost. */
  private async forgetRegistry(): Promise<void> {
    for (;;) {
      const node = await this.session.getData(this.registry);
      if (node === undefined) return;
      try {
        await this.session.remove(this.registry, node.version);
        return;
      } catch (error) {
        // Another server has written the document since.
        if (!isFault(error, 'bad-version')) throw error;
      }
    }
  }

  private async find(workerId: number): Promise<StoredWorker | undefined> {
    // If names contain no instance, the number is the name.
    const only = this.layout.parseName(String(workerId));
    const names = only === undefined ? await this.names() : [only];
    const isAsked = (name: NodeName): boolean => name.workerId === workerId;
    const [first] = await this.readAll(names.filter(isAsked), () => true);
    return first;
  }

  /** Reads the records; of several with the same number, only the one that was created first. */
  private async readAll(
    names: NodeName[],
    mustBeRead: (name: NodeName) => boolean,
    root = this.root,
    layout: ReadableLayout = this.layout,
  ): Promise<StoredWorker[]> {
    const first = new Map<number, { readonly name: NodeName; readonly node: ZookeeperNode }>();
    for (let from = 0; from < names.length; from += PIPELINE) {
      const some = names.slice(from, from + PIPELINE);
      const nodes = await Promise.all(some.map(({ name }) => this.session.getData(`${root}/${name}`)));
      for (const [n, name] of some.entries()) {
        const [node, other] = [nodes[n], first.get(name.workerId)?.node];
        if (node !== undefined && node.created < (other?.created ?? Infinity)) first.set(name.workerId, { name, node });
      }
    }
    return [...first.values()].flatMap(({ name, node }) => {
      const record = layout.decode(node.data, name);
      if (record !== undefined) return { workerId: name.workerId, record, version: formatToken(node) };
      if (mustBeRead(name)) throw unreadable(this.description, `node ${root}/${name.name}`);
      return [];
    });
  }

  private async names(root = this.root, layout: ReadableLayout = this.layout): Promise<NodeName[]> {
    try {
      const names = await this.session.children(root);
      return names.flatMap((name) => layout.parseName(name) ?? []);
    } catch (error) {
      if (isFault(error, 'no-node')) return [];
      throw error;
    }
  }

  private pathOf({ workerId, record }: StoredWorker): string {
    return `${this.root}/${this.layout.nameOf(workerId, record.instance)}`;
  }

  /**
   * Converts faults to LeafErrors. A denied request is a configuration error: the worker file must not replace the
   * registry.
   */
  private async translated<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof ZookeeperFault)) throw error;
      const { kind, message } = error;
      const remedy = REMEDIES[kind];
      if (remedy !== undefined) throw unusable(this.description, `${message} ${remedy}`, error);
      throw unavailable(this.description, message, error);
    }
  }
}
