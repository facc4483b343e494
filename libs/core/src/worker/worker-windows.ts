import type { Clock } from '../clock/clock';
import { hasCode, LeafError } from '../errors/leaf-error';
import type { Instance } from './instance';
import { WindowHolder, type WindowRecord, windowOf } from './window-holder';
import type { WorkerClaim } from './worker-claim';
import type { WorkerRegistry } from './worker-registry';
import type { StoredWorker } from './worker-store';

/** Shortest and longest window, and the default, in milliseconds. */
export const WINDOW_MS = { least: 10_000, most: 86_400_000, default: 60_000 } as const;
/** Name of a holder: 1 to 127 printable characters. */
export const HOLDER_PATTERN = /^[^\p{C}]{1,127}$/u;
/** Largest share of the worker IDs that windows may have: servers need some, too. */
const LARGEST_SHARE = 0.75;
/** How often a request begins again when another one with the same lease acquires a worker ID at the same time. */
const ATTEMPTS = 5;

/** The right to issue IDs as one worker, with timestamps from `from` to `until`. */
export interface WorkerWindow extends WindowRecord {
  readonly workerId: number;
  /** Unix milliseconds: the last timestamp that the caller may use. */
  readonly until: number;
}

interface Holding {
  readonly holder: WindowHolder;
  readonly claim: WorkerClaim;
}

interface HeldWindow extends Holding {
  /** Monotonic milliseconds, because a step of the wall clock does not end the window of the caller. */
  readonly endsAt: number;
}

interface FoundWindow extends WorkerWindow {
  readonly stored: StoredWorker;
}

/**
 * Hands worker IDs of a pool to processes outside of the servers, each with a window of time: the windows of one worker
 * ID never overlap. The rules are those of a server's own lease ({@link WorkerClaim}); `from` is its floor, `until` the
 * ceiling in the registry. A window belongs to the registry: any server extends and releases it, because the record has
 * the lease ID of the caller and `from`. A lost answer is asked for again with the same lease.
 */
export class WorkerWindows {
  /** The windows that this server has written, by lease: if the registry loses its history, they are registered again. */
  private readonly held = new Map<string, HeldWindow>();
  private readonly turns = new Map<string, Promise<unknown>>();

  private readonly most: number;

  /** @param most largest number of windows at the same time; never more than three quarters of the worker IDs */
  constructor(
    private readonly registry: WorkerRegistry,
    private readonly server: Instance,
    private readonly clock: Clock,
    most: number,
  ) {
    this.most = Math.min(most, Math.floor((registry.options.maxWorkerId + 1) * LARGEST_SHARE));
  }

  /** Whether the registry is a pool: only its worker IDs can be handed out. */
  get supported(): boolean {
    return this.registry.isPool;
  }

  /**
   * Acquires a worker ID for `lease`, or extends the window that it has.
   *
   * @param lease 32 hexadecimal digits in lower case
   * @param holder name of the caller, for people
   * @param windowMs see {@link WINDOW_MS}
   * @throws LeafError `LEAF_WORKERS_USED_UP`, `LEAF_LEASE_LOST`, `LEAF_NOT_READY` in the grace period of a new registry,
   *   `LEAF_REGISTRY_UNREACHABLE`: the outcome may be unknown, ask again with the same lease
   */
  issue(lease: string, holder: string, windowMs: number): Promise<{ window: WorkerWindow; isNew: boolean }> {
    return this.inTurn(lease, async () => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const known = await this.find(lease);
        if (known !== undefined) return { window: await this.raise(known, windowMs), isNew: false };
        const window = await this.acquire(lease, holder, windowMs);
        if (window !== undefined) return { window, isNew: true };
      }
      throw concurrent(lease);
    });
  }

  /**
   * Raises `until` to `windowMs` from now, or leaves it where it is later.
   *
   * @param workerId the worker ID of the window; without it, all records are read
   * @throws LeafError `LEAF_LEASE_NOT_FOUND`, `LEAF_LEASE_LOST`, `LEAF_REGISTRY_UNREACHABLE`
   */
  extend(lease: string, windowMs: number, workerId?: number): Promise<WorkerWindow> {
    return this.inTurn(lease, async () => {
      const known = await this.find(lease, workerId);
      if (known !== undefined) return this.raise(known, windowMs);
      await this.registry.assertSettled();
      throw notFound(lease);
    });
  }

  /**
   * Releases the worker ID of a window; does nothing if the lease has none. The next holder issues only above
   * `lastTimestamp`.
   *
   * @param lastTimestamp Unix milliseconds of the newest ID; undefined: any timestamp up to `until` may be used
   * @throws LeafError `LEAF_BODY_INVALID` for a timestamp after `until`, `LEAF_REGISTRY_UNREACHABLE`
   */
  release(lease: string, lastTimestamp?: number): Promise<void> {
    return this.inTurn(lease, async () => {
      const held = this.held.get(lease);
      if (held !== undefined && !held.claim.isOf(await this.registry.history())) await this.register(lease, held);
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        // All of them: an answer that never arrived may have left a second one.
        const found = await this.windowsOf(lease);
        if (found.length === 0) {
          this.held.delete(lease);
          return;
        }
        const latest = Math.max(...found.map(({ until }) => until));
        const newest = lastTimestamp ?? latest;
        if (newest > latest) throw beyond(newest, latest);
        for (const { stored, from, until } of found) {
          await this.registry.withdraw(stored, Math.min(until, Math.max(from - 1, newest)));
        }
      }
      throw concurrent(lease);
    });
  }

  /** The windows that have not ended. @throws LeafError `LEAF_REGISTRY_UNREACHABLE` */
  async list(): Promise<readonly WorkerWindow[]> {
    return (await this.found()).filter(({ until }) => until >= this.clock.now());
  }

  /**
   * R5: if the registry has lost its history, registers the windows again that this server has written. Run it every
   * report interval.
   *
   * @throws LeafError `LEAF_REGISTRY_UNREACHABLE`
   */
  async keep(): Promise<void> {
    const now = this.clock.monotonic();
    for (const [lease, { endsAt }] of this.held) if (endsAt < now) this.held.delete(lease);
    if (this.held.size === 0) return;
    const history = await this.registry.history();
    const lost = [...this.held].filter(([, { claim }]) => !claim.isOf(history));
    await Promise.all(lost.map(([lease, held]) => this.inTurn(lease, () => this.register(lease, held))));
  }

  private async register(lease: string, held: Holding): Promise<void> {
    if (this.held.get(lease)?.claim !== held.claim) return;
    await this.record(held, held.claim.ceiling);
  }

  /** @returns whether the window was recorded; if not, the caller may still use it to its end */
  private async record({ holder, claim }: Holding, until: number): Promise<boolean> {
    if ((await claim.extend(until).catch(unlessLost)) === true) return true;
    // The history was lost, and another holder was faster or the window is about to end.
    if (!claim.isOf(await this.registry.history())) await this.registry.reserve(claim.workerId, claim.ceiling, holder);
    this.held.delete(holder.lease);
    return false;
  }

  private async acquire(lease: string, name: string, windowMs: number): Promise<WorkerWindow | undefined> {
    if ((await this.list()).length >= this.most) throw usedUp(this.most);
    const holder = new WindowHolder(lease, name, this.server);
    const claim = await this.registry.acquire(holder, (_ms, reason) => Promise.reject(reason), windowMs);
    const written = holder.attempted;
    // Two requests with one lease, at two servers, may both have found nothing: only one of their windows may be used.
    const all = await this.windowsOf(lease);
    if (all.every(({ workerId }) => workerId === claim.workerId)) return this.windowWith(holder, claim);
    const own = all.find(({ workerId, stored }) => workerId === claim.workerId && stored.record.write === written);
    // Nobody has been told of it: who finds a record answers only after it has written it again.
    if (own !== undefined) await this.registry.withdraw(own.stored, claim.floor);
    return undefined;
  }

  private async raise(held: Holding, windowMs: number): Promise<WorkerWindow> {
    const { holder, claim } = held;
    if (await this.record(held, Math.max(claim.ceiling, this.clock.now() + windowMs))) {
      return this.windowWith(holder, claim);
    }
    const records = (await this.registry.records()).filter(({ record }) => windowOf(record)?.lease === holder.lease);
    throw records.some(({ record }) => record.free) ? notFound(holder.lease) : lost(holder.lease, claim.workerId);
  }

  private windowWith(holder: WindowHolder, claim: WorkerClaim): WorkerWindow {
    const { lease } = holder;
    const { workerId, floor, ceiling } = claim;
    const endsAt = this.clock.monotonic() + ceiling - this.clock.now();
    this.held.set(lease, { holder, claim, endsAt });
    return { workerId, lease, holder: holder.name, from: floor + 1, until: ceiling };
  }

  private async find(lease: string, workerId?: number): Promise<Holding | undefined> {
    const held = this.held.get(lease);
    if (held !== undefined && (workerId === undefined || held.claim.workerId === workerId)) return held;
    const found = await this.windowsOf(lease);
    const [first, second] = workerId === undefined ? found : found.filter((one) => one.workerId === workerId);
    if (second !== undefined) throw concurrent(lease);
    return first && this.resume(first);
  }

  private async resume({ stored, ...window }: FoundWindow): Promise<Holding> {
    const holder = WindowHolder.of(window, this.server);
    return { holder, claim: await this.registry.resume(holder, stored, window.from - 1) };
  }

  private async windowsOf(lease: string): Promise<FoundWindow[]> {
    return (await this.found()).filter((window) => window.lease === lease);
  }

  private async found(): Promise<FoundWindow[]> {
    return (await this.registry.records()).flatMap((stored) => {
      const window = stored.record.free ? undefined : windowOf(stored.record);
      return window === undefined
        ? []
        : [{ ...window, workerId: stored.workerId, until: stored.record.ceiling, stored }];
    });
  }

  /** One request of a lease at a time. */
  private async inTurn<T>(lease: string, act: () => Promise<T>): Promise<T> {
    const turn = (this.turns.get(lease) ?? Promise.resolve()).then(act, act);
    this.turns.set(lease, turn);
    try {
      return await turn;
    } finally {
      if (this.turns.get(lease) === turn) this.turns.delete(lease);
    }
  }
}

/** Resolves with undefined if the worker ID belongs to another holder. */
function unlessLost(error: unknown): undefined {
  if (!hasCode(error, 'LEAF_LEASE_LOST')) throw error;
}

function notFound(lease: string): LeafError {
  return new LeafError(
    'LEAF_LEASE_NOT_FOUND',
    `No worker ID is held under the lease ${hidden(lease)}: it was released, or never acquired. Issue no more IDs with its worker ID, and acquire another one with a new lease.`,
  );
}

function lost(lease: string, workerId: number): LeafError {
  return new LeafError(
    'LEAF_LEASE_LOST',
    `The window of worker ${workerId} under the lease ${hidden(lease)} has ended, and the worker ID belongs to another holder. Issue no more IDs with it, and acquire another one with a new lease.`,
    { status: 409 },
  );
}

function concurrent(lease: string): LeafError {
  return new LeafError(
    'LEAF_NOT_READY',
    `Several requests with the lease ${hidden(lease)} are in progress. Wait, then send the request again with the same lease.`,
    { retryAfterMs: 1000 },
  );
}

function usedUp(most: number): LeafError {
  return new LeafError(
    'LEAF_WORKERS_USED_UP',
    `All ${most} worker windows are used. Wait until some have ended, release windows when a process stops, request shorter ones, or allow more (the option snowflake.mostWindows).`,
    { status: 409 },
  );
}

function beyond(lastTimestamp: number, until: number): LeafError {
  return new LeafError(
    'LEAF_BODY_INVALID',
    `lastTimestamp (${lastTimestamp}) is after the end of the window (${until}). IDs with timestamps after it may not be unique: check the clock of this process, and that it issues none after the window.`,
  );
}

/** A lease ID is a secret: who knows it can release the worker ID. */
function hidden(lease: string): string {
  return `${lease.slice(0, 6)}…`;
}
