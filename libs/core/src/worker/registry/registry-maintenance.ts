import type { MaintenanceTurn, RegistryDocument, WorkerUsage } from '../records/registry-document';
import { isAnswerOf, isSameHistory, type RegistryHistory, UNKNOWN_REGISTRY } from './registry-memory';
import { type WorkerRegistryOptions, type WorkerRegistryParts, workersOf } from './registry-options';
import { windowOf } from '../records/window-holder';
import type { StoredRegistry, StoredWorker } from '../records/worker-store';

/**
 * Frees the records of a pool that were abandoned, and counts the worker IDs in use.
 *
 * Reading all records on every server would cost the registry a number of reads that grows with the square of the
 * servers. So one server has the turn: the document of the registry has the time at which it began its latest
 * maintenance. The others read only the document, and those that may take other worker IDs count these. When that time
 * is too old, because the server has stopped or keeps failing, another one takes the turn by compare-and-set, and
 * watches the records from then on.
 *
 * Nothing but the number of reads depends on the turn. It is about all records, also of worker IDs that the server may
 * not take: their servers may have ended. A record is freed because the server that frees it has watched
 * it, unchanged, for the lease TTL; several servers, or one that is suspended, may do so at the same time.
 */
export class RegistryMaintenance {
  /** Latest count of the server that has the turn; undefined before the first count. */
  usage: WorkerUsage | undefined;

  /** The version of each record in use, and when it was first known, in monotonic milliseconds. */
  private readonly unchanged = new Map<number, { readonly version: string; readonly at: number }>();
  /** The history that these versions belong to: a restored registry uses versions again. */
  private history: RegistryHistory = UNKNOWN_REGISTRY;
  /** The start of the latest maintenance by this server, in Unix milliseconds: identifies it in the document. */
  private beganAt: number | undefined;
  /** Whether that maintenance has ended without a failure. */
  private isDone = false;
  /** Monotonic milliseconds. */
  private lookedAt = -Infinity;

  constructor(
    private readonly parts: Pick<WorkerRegistryParts, 'store' | 'policy' | 'clock'>,
    private readonly options: Pick<WorkerRegistryOptions, 'leaseTtlMs' | 'maxWorkerId' | 'workers'>,
  ) {}

  /**
   * Maintains the registry if this server has the turn, and otherwise reads what the server with the turn has counted.
   * Does nothing before a quarter of the lease TTL has passed since the last time.
   *
   * @param everyMs time between two calls on each server, in milliseconds
   * @throws LeafError `LEAF_REGISTRY_UNREACHABLE`
   */
  async run(everyMs = 0): Promise<void> {
    const { store, clock } = this.parts;
    const periodMs = this.options.leaseTtlMs / 4;
    const now = clock.monotonic();
    if (now < this.lookedAt + periodMs) return;
    const stored = await store.readRegistry();
    const { document, origin } = stored;
    // A generation that has not begun has no document to record the turn in.
    if (document === undefined || document.origin !== origin) return;
    if (!isSameHistory(this.history, document)) this.unchanged.clear();
    this.history = document;
    const { maintained } = document;
    const counted = this.isOwnCount(maintained?.usage) ? maintained?.usage : undefined;
    this.usage = counted ?? this.usage;
    const isOurs = maintained !== undefined && maintained.at === this.beganAt;
    // Two periods: a run starts up to one call after it is due.
    if (!isOurs && !isOverdue(maintained, clock.now(), 2 * (periodMs + everyMs))) {
      if (maintained?.usage === undefined) return;
      if (counted === undefined) this.usage = this.count(await store.list());
      this.lookedAt = now;
      return;
    }
    const isRepeated = isOurs && !this.isDone;
    const turn = isRepeated ? maintained : { at: clock.now(), usage: maintained?.usage };
    // After a failure the time stays the same, so that the turn passes on from a server that keeps failing.
    if (!isRepeated && !(await store.writeRegistry(stored, { ...document, maintained: turn }))) return;
    this.beganAt = turn.at;
    this.isDone = false;
    if (!(await this.maintain(document, turn.at))) return;
    this.isDone = true;
    this.lookedAt = now;
  }

  /** Returns false if the registry was restored meanwhile. */
  private async maintain(document: RegistryDocument, turnAt: number): Promise<boolean> {
    const { store, policy, clock } = this.parts;
    const before = clock.monotonic();
    const records = await store.list();
    const after = clock.monotonic();
    // Read after the records: they belong to the history of both reads.
    const stored = await store.readRegistry();
    if (!isAnswerOf(document, stored)) return false;
    if (!policy.exclusive) {
      // R12: the holder may have a longer lease TTL than this server.
      const leaseTtlMs = Math.max(this.options.leaseTtlMs, stored.document?.horizonMs ?? 0);
      const abandoned = records.filter((one) => this.isAbandoned(one, { before, after, leaseTtlMs }));
      await Promise.all(abandoned.map((one) => store.replace(one, { ...one.record, free: true })));
    }
    this.usage = this.count(records);
    await this.publish(stored, turnAt);
    return true;
  }

  private count(records: readonly StoredWorker[]): WorkerUsage | undefined {
    const { policy, clock } = this.parts;
    return policy.usage(records, workersOf(this.options), clock.now());
  }

  /** Whether another server has counted the worker IDs that this one may take. */
  private isOwnCount(usage: WorkerUsage | undefined): boolean {
    const own = this.count([]);
    return usage !== undefined && usage.most === own?.most && usage.first === own.first;
  }

  /**
   * R10: uses our monotonic clock, never a wall clock. A window is valid without a report for its whole length.
   *
   * @param look when the records were requested, no later than they were read, and when they arrived; and the lease TTL
   *   of their holders
   */
  private isAbandoned(
    { workerId, version, record }: StoredWorker,
    { before, after, leaseTtlMs }: { before: number; after: number; leaseTtlMs: number },
  ): boolean {
    if (windowOf(record) !== undefined && record.ceiling >= this.parts.clock.now()) return false;
    const seen = this.unchanged.get(workerId);
    if (seen?.version !== version) {
      this.unchanged.set(workerId, { version, at: after });
      return false;
    }
    return !record.free && before - seen.at >= leaseTtlMs;
  }

  /** Writes the count for the other servers. If the document changes meanwhile, they get the next one. */
  private async publish(stored: StoredRegistry, at: number): Promise<void> {
    const { document } = stored;
    if (document?.maintained?.at !== at) return;
    await this.parts.store.writeRegistry(stored, { ...document, maintained: { at, usage: this.usage } });
  }
}

/** A time far in the future is that of a clock that was ahead. Servers with such clocks take the turn from each other. */
function isOverdue(turn: MaintenanceTurn | undefined, now: number, limitMs: number): boolean {
  return turn === undefined || Math.abs(now - turn.at) > limitMs;
}
