import { isFault } from '../zookeeper/zookeeper-registry';
import type { ZookeeperSession } from '../zookeeper/zookeeper-session';
import { parseRecord, type PoolRecord } from './pool-record';

/** A record as it was read. */
export interface PoolEntry {
  readonly workerId: number;
  readonly version: number;
  /** Undefined when its data is no record: such a worker is nobody's to take. */
  readonly record: PoolRecord | undefined;
}

/** How many reads are under way at a time. */
const PIPELINE = 256;

/** The nodes `0` to `size` - 1 below `root`, each made by whoever takes it first. */
export class WorkerPool {
  constructor(
    private readonly session: ZookeeperSession,
    private readonly root: string,
    readonly size: number,
  ) {}

  path(workerId: number): string {
    return `${this.root}/${workerId}`;
  }

  /** Those that nobody has ever taken. */
  async unused(): Promise<number[]> {
    const used = new Set(await this.used());
    return Array.from({ length: this.size }, (_, workerId) => workerId).filter((workerId) => !used.has(workerId));
  }

  /** All that somebody has taken once. */
  async read(): Promise<PoolEntry[]> {
    const workers = await this.used();
    const entries: PoolEntry[] = [];
    for (let from = 0; from < workers.length; from += PIPELINE) {
      const some = await Promise.all(workers.slice(from, from + PIPELINE).map((workerId) => this.find(workerId)));
      entries.push(...some.filter((entry) => entry !== undefined));
    }
    return entries;
  }

  async find(workerId: number): Promise<PoolEntry | undefined> {
    const node = await this.session.getData(this.path(workerId));
    return node && { workerId, version: node.version, record: parseRecord(node.data) };
  }

  private async used(): Promise<number[]> {
    const names = await this.names();
    return names.filter((name) => /^(0|[1-9]\d{0,3})$/.test(name) && Number(name) < this.size).map(Number);
  }

  private async names(): Promise<string[]> {
    try {
      return await this.session.children(this.root);
    } catch (error) {
      if (isFault(error, 'no-node')) return [];
      throw error;
    }
  }
}
