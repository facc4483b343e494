import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  formatInstance,
  type Instance,
  LeafError,
  parseRegistryDocument,
  type RegistryDocument,
  type StoredRegistry,
  type StoredWorker,
  type WorkerRecord,
  WorkerStore,
} from '@leaf-ids/core';
import { codeOf, isCount, parseObject } from '@leaf-ids/core/internal';
import { type ExclusiveLock, lockDirectory } from '../../file/exclusive-lock';
import { formatRecord, invalid, notWritten, readRecord, readText, workerIdOf, writeText } from './worker-record-file';

/** Matches any instance in the worker map. */
const ANY = '*';
const ORIGIN = 'directory';

/**
 * Workers from a configured map, recorded in `<directory>/worker-<n>/workerID.json` next to an exclusive lock. A server
 * takes the lock when it first reads its own record, and holds it until the store is closed, so no other process writes
 * the record.
 *
 * The store knows only one directory: servers with separate directories need different worker IDs.
 */
export class DirectoryWorkerStore extends WorkerStore {
  private readonly locks = new Map<number, ExclusiveLock>();
  private turns: Promise<unknown> = Promise.resolve();

  /**
   * @param workers `ip:port` → worker ID; `*` matches any instance
   * @param description the directory, created if it does not exist
   */
  constructor(
    private readonly workers: Readonly<Record<string, number>>,
    readonly description: string,
  ) {
    super();
  }

  override async isUnheld(workerId: number): Promise<boolean> {
    if (this.locks.has(workerId)) return true;
    const lock = await lockDirectory(join(this.description, `worker-${workerId}`), `worker ${workerId}`);
    lock?.release();
    return lock !== undefined;
  }

  async readRegistry(): Promise<StoredRegistry> {
    const text = await readText(this.registry);
    const document = parseRegistryDocument(text ?? '');
    if (text !== undefined && document === undefined) throw invalid(this.registry, 'it is not a registry document');
    return { document, origin: ORIGIN, version: text ?? '' };
  }

  async writeRegistry({ version }: StoredRegistry, document: RegistryDocument): Promise<boolean> {
    const lock = await lockDirectory(this.description, 'the registry');
    if (lock === undefined) return false;
    try {
      if (((await readText(this.registry)) ?? '') !== version) return false;
      await writeText(this.registry, `${JSON.stringify(document)}\n`);
      return true;
    } finally {
      lock.release();
    }
  }

  async list(instance?: Instance): Promise<StoredWorker[]> {
    if (instance !== undefined) {
      const own = await this.inTurn(this.workerOf(instance), (stored) => stored);
      return own === undefined ? [] : [own];
    }
    const found = await Promise.all(
      (await this.numbers()).map((workerId) => this.read(workerId).catch(() => undefined)),
    );
    return found.filter((stored) => stored !== undefined);
  }

  read(workerId: number): Promise<StoredWorker | undefined> {
    return readRecord(this.pathOf(workerId), workerId);
  }

  async create(
    _registry: StoredRegistry,
    record: WorkerRecord,
    workerId = this.workerOf(record.instance),
  ): Promise<StoredWorker | undefined> {
    return this.inTurn(workerId, (stored) => (stored === undefined ? this.write(workerId, record) : undefined));
  }

  replace({ workerId, version }: StoredWorker, record: WorkerRecord): Promise<StoredWorker | undefined> {
    return this.inTurn(workerId, (stored) => (stored?.version === version ? this.write(workerId, record) : undefined));
  }

  override close(): Promise<void> {
    for (const lock of this.locks.values()) lock.release();
    this.locks.clear();
    return Promise.resolve();
  }

  private get registry(): string {
    return join(this.description, 'registry.json');
  }

  private pathOf(workerId: number): string {
    return join(this.description, `worker-${workerId}`, 'workerID.json');
  }

  private workerOf(instance: Instance): number {
    const workerId = this.workers[formatInstance(instance)] ?? this.workers[ANY];
    if (workerId !== undefined) return workerId;
    throw new LeafError(
      'LEAF_WORKER_UNASSIGNED',
      `The option snowflake.registry.workers has no worker ID for ${formatInstance(instance)}, only for ${Object.keys(this.workers).join(', ')}. Add this instance, or give this server one of the listed addresses (the option snowflake.instance).`,
    );
  }

  /** Runs `act` with the record under its lock; calls run one after another. */
  private inTurn<T>(workerId: number, act: (stored: StoredWorker | undefined) => T | Promise<T>): Promise<T> {
    const turn = this.turns.then(async () => {
      await this.hold(workerId);
      return act(await this.read(workerId));
    });
    this.turns = turn.catch(() => undefined);
    return turn;
  }

  /** Locks the worker on the first call; later calls check that the lock file is still in place. */
  private async hold(workerId: number): Promise<void> {
    const held = this.locks.get(workerId);
    if (held === undefined) {
      this.locks.set(workerId, await this.lock(workerId));
    } else if (!(await held.isInPlace())) {
      throw new LeafError(
        'LEAF_LEASE_LOST',
        `The directory of worker ${workerId} in ${this.description} was removed or replaced while this server was running, so its lock is no longer valid. Keep the data directory in place, and restart this server.`,
      );
    }
  }

  private async lock(workerId: number): Promise<ExclusiveLock> {
    const directory = join(this.description, `worker-${workerId}`);
    const lock = await lockDirectory(directory, `worker ${workerId}`);
    if (lock !== undefined) return lock;
    const { ip, port, pid } = parseObject((await readText(this.pathOf(workerId))) ?? '');
    const instance = formatInstance({ ip: String(ip), port: Number(port) });
    const by = isCount(pid) ? `${instance} (process ${pid})` : 'another server';
    throw new LeafError(
      'LEAF_WORKER_HELD',
      `Worker ${workerId} in ${directory} is held by ${by}. Stop that server, or give this server a different worker ID in the option snowflake.registry.workers.`,
    );
  }

  protected async write(workerId: number, record: WorkerRecord): Promise<StoredWorker> {
    const version = formatRecord(workerId, record);
    await writeText(this.pathOf(workerId), version);
    return { workerId, record, version };
  }

  private async numbers(): Promise<number[]> {
    try {
      const names = await readdir(this.description);
      return names.flatMap((name) => workerIdOf(name) ?? []);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw notWritten(this.description, error);
    }
  }
}
