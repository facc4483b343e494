import { ZookeeperFault } from '../../../libs/registry/src/stores/zookeeper/zookeeper-fault';
import type {
  ZookeeperCalls,
  WrittenNode,
  ZookeeperNode,
} from '../../../libs/registry/src/stores/zookeeper/zookeeper-session';
import type { RegistryTraffic } from './registry-traffic';

/** The number of the only session of each client. */
const FIRST = 1;

interface TreeNode {
  data: string;
  version: number;
  readonly created: number;
  /** The session whose node it is, if it is ephemeral. */
  readonly owner: number | undefined;
  childrenVersion: number;
}

/**
 * The nodes of a ZooKeeper that never fails. Sessions never end, so ephemeral nodes stay. Its methods are the operations
 * themselves; {@link InMemoryZookeeper.connect} makes them requests.
 */
export class InMemoryZookeeper {
  private readonly nodes = new Map<string, TreeNode>();
  private readonly children = new Map<string, Set<string>>();
  private transactions = 0;
  private sessions = 0;

  constructor(private readonly traffic: RegistryTraffic) {}

  /** A session; its requests are counted. */
  connect(): ZookeeperCalls {
    const { traffic } = this;
    const session = ++this.sessions;
    return {
      getData: (path) => traffic.read(this.read(path, session), path, this.nodes.get(path)?.data ?? ''),
      setData: async (path, data, version) => traffic.write(this.set(path, data, version), path, data),
      create: async (path, data, kind) => {
        const owner = kind === 'ephemeral' ? session : undefined;
        return traffic.write(this.create(path, data, kind === 'sequential', owner), path, data);
      },
      children: async (path) => {
        const names = this.list(path);
        return traffic.read(names, path, ...names);
      },
      childrenVersion: (path) => traffic.read(this.versionOf(path), path),
      remove: (path) => {
        this.remove(path);
        return traffic.write(undefined, path);
      },
      ensurePath: (path) => {
        this.ensure(path);
        return traffic.read(undefined, path);
      },
      snapshot: () => ({ connected: true, generation: FIRST, lastFault: undefined }),
      close: () => Promise.resolve(),
    };
  }

  read(path: string, session: number): ZookeeperNode | undefined {
    const node = this.nodes.get(path);
    const owned = node?.owner === session ? 'ours' : 'of another session';
    return node && { ...node, session: FIRST, mtime: 0, ephemeral: node.owner === undefined ? 'no' : owned };
  }

  set(path: string, data: string, version: number): WrittenNode {
    const node = this.nodes.get(path);
    if (node === undefined) throw new ZookeeperFault('no-node', path);
    if (node.version !== version) throw new ZookeeperFault('bad-version', path);
    node.data = data;
    return { created: node.created, version: ++node.version };
  }

  create(wanted: string, data: string, sequential: boolean, owner?: number): string {
    const parent = wanted.slice(0, wanted.lastIndexOf('/'));
    const number = this.nodes.get(parent)?.childrenVersion ?? 0;
    const path = sequential ? `${wanted}${String(number).padStart(10, '0')}` : wanted;
    if (this.nodes.has(path)) throw new ZookeeperFault('node-exists', path);
    this.nodes.set(path, { data, version: 0, created: ++this.transactions, owner, childrenVersion: 0 });
    const siblings = this.children.get(parent) ?? new Set();
    this.children.set(parent, siblings.add(path.slice(parent.length + 1)));
    this.changed(parent);
    return path;
  }

  list(path: string): string[] {
    if (!this.nodes.has(path)) throw new ZookeeperFault('no-node', path);
    return [...(this.children.get(path) ?? [])];
  }

  versionOf(path: string): string | undefined {
    const node = this.nodes.get(path);
    return node && `${node.created}/${node.childrenVersion}`;
  }

  remove(path: string): void {
    const parent = path.slice(0, path.lastIndexOf('/'));
    this.nodes.delete(path);
    this.children.get(parent)?.delete(path.slice(parent.length + 1));
    this.changed(parent);
  }

  /** Removes all nodes, as `deleteall /` does. Transactions and sessions go on. */
  clear(): void {
    this.nodes.clear();
    this.children.clear();
  }

  private changed(parent: string): void {
    const node = this.nodes.get(parent);
    if (node !== undefined) node.childrenVersion++;
  }

  ensure(path: string): void {
    const parent = path.slice(0, path.lastIndexOf('/'));
    if (parent !== '') this.ensure(parent);
    if (!this.nodes.has(path)) this.create(path, '', false);
  }
}
