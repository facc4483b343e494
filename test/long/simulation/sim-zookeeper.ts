import {
  type Clock,
  parseRegistryDocument,
  type RegistryDocument,
  type StoredWorker,
  type TimeSource,
  type WorkerStore,
} from '@leaf-ids/core';
import type { NodeLayout } from '../../../libs/registry/src/stores/zookeeper/node-layout';
import { ZookeeperFault } from '../../../libs/registry/src/stores/zookeeper/zookeeper-fault';
import { ZookeeperWorkerStore } from '../../../libs/registry/src/stores/zookeeper/zookeeper-store';
import type { ZookeeperCalls } from '../../../libs/registry/src/stores/zookeeper/zookeeper-session';
import { InMemoryZookeeper } from '../../support/fakes/in-memory-zookeeper';
import { RegistryTraffic } from '../../support/fakes/registry-traffic';
import type { RegistryServer, WriteListener, Writer } from './sim-server';
import type { Carry } from './sim-store';

const NAME = 'leaf';
const PARENT = `/snowflake/${NAME}`;
const DOCUMENT = `${PARENT}/registry`;
/** Where the Java service keeps its records. */
const JAVA = `${PARENT}/forever`;
/** Sessions live on, whatever happens to the nodes. */
const SESSION = 1;

/** A ZooKeeper behind the shipped store. Its operations are atomic, and the versions of a new node begin at 0. */
export class SimZookeeper implements RegistryServer {
  private readonly tree = new InMemoryZookeeper(new RegistryTraffic());
  private readonly root: string;

  constructor(
    private readonly listener: WriteListener,
    private readonly layout: NodeLayout,
  ) {
    this.root = `${PARENT}/${layout.records}`;
  }

  get document(): RegistryDocument | undefined {
    return parseRegistryDocument(this.tree.read(DOCUMENT, SESSION)?.data ?? '');
  }

  /** The shipped store, whose every request to ZooKeeper is carried by itself. */
  storeOf(writer: Writer, clock: Clock, carry: Carry, sources: () => TimeSource[]): WorkerStore {
    const options = { name: NAME, zookeeper: 'zk' };
    const store = new ZookeeperWorkerStore(this.connect(writer, carry), this.layout, options, clock);
    return Object.assign(store, { announce: () => undefined, timeSources: () => Promise.resolve(sources()) });
  }

  list(): StoredWorker[] {
    return this.tree.read(this.root, SESSION) === undefined
      ? []
      : this.tree.list(this.root).flatMap((name) => this.decode(`${this.root}/${name}`) ?? []);
  }

  read(workerId: number): StoredWorker | undefined {
    return this.list().find((stored) => stored.workerId === workerId);
  }

  empty(): void {
    this.tree.clear();
  }

  deleteDocument(): void {
    this.tree.remove(DOCUMENT);
  }

  /** @returns the worker ID of a new Java server */
  addJava(instance: { readonly ip: string; readonly port: number }, timestamp: number): number {
    this.tree.ensure(JAVA);
    const path = this.tree.create(`${JAVA}/${instance.ip}:${instance.port}-`, javaData(instance, timestamp), true);
    return Number(path.slice(-10));
  }

  /** A Java server writes the time, whatever is there. */
  reportJava(instance: { readonly ip: string; readonly port: number }, workerId: number, timestamp: number): void {
    const path = `${JAVA}/${instance.ip}:${instance.port}-${String(workerId).padStart(10, '0')}`;
    const node = this.tree.read(path, SESSION);
    if (node !== undefined) this.tree.set(path, javaData(instance, timestamp), node.version);
  }

  private connect(writer: Writer, carry: Carry): ZookeeperCalls {
    const ask = async <T>(label: string, act: () => T, isWrite = false): Promise<T> => {
      const answer = await carry(label, () => attempt(act), isWrite);
      if ('fault' in answer) throw answer.fault;
      return answer.value;
    };
    /** The node that was read last, by path: the store reads a node right before it writes it. */
    const seen = new Map<string, number>();
    return {
      getData: async (path) => {
        const node = await ask('getData', () => this.tree.read(path, SESSION));
        if (node !== undefined) seen.set(path, node.created);
        return node;
      },
      setData: (path, data, version) => {
        const created = seen.get(path);
        return ask('setData', () => this.write(writer, path, () => this.tree.set(path, data, version), created), true);
      },
      create: (path, data, kind) =>
        ask('create', () => this.write(writer, path, () => this.tree.create(path, data, kind === 'sequential')), true),
      children: (path) => ask('children', () => this.tree.list(path)),
      childrenVersion: (path) => ask('childrenVersion', () => this.tree.versionOf(path)),
      remove: (path) => ask('remove', () => this.tree.remove(path), true),
      ensurePath: (path) => ask('ensurePath', () => this.tree.ensure(path), true),
      snapshot: () => ({ connected: true, generation: SESSION, lastFault: undefined }),
      close: () => Promise.resolve(),
    };
  }

  /** @param created the node that the writer has read */
  private write<T>(writer: Writer, wanted: string, act: () => T, created?: number): T {
    const { document } = this;
    const isLate = created !== undefined && this.tree.read(wanted, SESSION)?.created !== created;
    const before = this.decode(wanted);
    const answer = act();
    // The path of a sequential node is known only now.
    const after = this.decode(typeof answer === 'string' ? answer : wanted);
    if (after !== undefined) this.listener.wrote(writer, before, after, isLate);
    const { document: written } = this;
    if (wanted === DOCUMENT && document?.floor === undefined && written?.floor !== undefined)
      this.listener.floorWritten(written);
    return answer;
  }

  private decode(path: string): StoredWorker | undefined {
    const node = path.startsWith(`${this.root}/`) ? this.tree.read(path, SESSION) : undefined;
    const name = this.layout.parseName(path.slice(this.root.length + 1));
    if (node === undefined || name === undefined) return undefined;
    const record = this.layout.decode(node.data, name);
    return record && { workerId: name.workerId, record, version: String(node.version) };
  }
}

function javaData({ ip, port }: { readonly ip: string; readonly port: number }, timestamp: number): string {
  return JSON.stringify({ ip, port: String(port), timestamp });
}

function attempt<T>(act: () => T): { readonly value: T } | { readonly fault: ZookeeperFault } {
  try {
    return { value: act() };
  } catch (error) {
    if (error instanceof ZookeeperFault) return { fault: error };
    throw error;
  }
}
