import type { Clock } from '../../clock/clock';
import { forEachParallel } from '../../util/for-each';
import { Turns } from '../../util/turns';
import type { Instance } from '../records/instance';
import type { RegistryDocument } from '../records/registry-document';
import {
  asConflict,
  leaseBusy,
  timestampBeyond,
  unlessLost,
  windowCopied,
  windowLost,
  windowNotFound,
  windowsUsedUp,
} from '../registry/worker-errors';
import { WindowHolder, type WindowRecord, windowOf } from '../records/window-holder';
import type { WorkerClaim } from '../lease/worker-claim';
import { isWorkerIn, workersIn } from '../records/worker-range';
import type { WorkerRegistry } from '../lease/worker-registry';
import type { StoredWorker } from '../records/worker-store';

/** Shortest and longest window, and the default, in milliseconds. */
export const WINDOW_MS = { least: 10_000, most: 86_400_000, default: 60_000 } as const;
/** Name of a holder: 1 to 127 printable characters. */
export const HOLDER_PATTERN = /^[^\p{C}]{1,127}$/u;
/** Largest share of the worker IDs that windows may have: servers need some, too. */
const LARGEST_SHARE = 0.75;
/** How long after its end a window still counts: a pool does not give its worker ID away at once. */
const MARGIN_MS = 60_000;
/** Windows that are registered again together. */
const BATCH = 256;
/** Windows that are registered again at the same time, one by one. */
const REGISTRATIONS = 16;
/** How often a request begins again when another one with the same lease acquires a worker ID at the same time. */
const ATTEMPTS = 5;

/** The right to issue IDs as one worker, with timestamps from `from` to `until`. */
export interface WorkerWindow extends WindowRecord {
  readonly workerId: number;
  /** Unix milliseconds: the last timestamp that the caller may use. */
  readonly until: number;
}

/** Values of {@link WindowProgress.mark}. */
export const MARKS = 1000;

/**
 * What a caller knows of its window. A copy of its process, as a cloned virtual machine has it, knows the same lease, but
 * not the end of what the other one has extended since: only one of them is extended again.
 */
export interface WindowProgress {
  /** `until` of the newest answer that the caller has. */
  readonly known: number;
  /**
   * The last three digits of the end of the window, random for each extension, and the same for each try of it: so an
   * extension whose answer was lost is recognized. Undefined: no extension was tried since.
   */
  readonly mark?: number | undefined;
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
 * the lease ID of the caller and `from`. A lost answer is asked for again with the same lease. Only a new window must
 * have a worker ID of the range of this server.
 */
export class WorkerWindows {
  /** The windows that this server has written, by lease: if the registry loses its history, they are registered again. */
  private readonly held = new Map<string, HeldWindow>();
  /** One request of a lease at a time. */
  private readonly turns = new Turns();

  private readonly most: number;

  /**
   * @param most largest number of windows at the same time; never more than three quarters of the worker IDs that this
   *   server may take
   */
  constructor(
    private readonly registry: WorkerRegistry,
    private readonly server: Instance,
    private readonly clock: Clock,
    most: number,
  ) {
    this.most = Math.min(most, Math.floor(workersIn(registry.usableWorkers) * LARGEST_SHARE));
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
    return this.turns.run(lease, async () => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const known = this.held.get(lease) ?? (await this.findUnanswered(lease));
        if (known !== undefined) return { window: await this.raise(known, windowMs), isNew: false };
        const window = await this.acquire(lease, holder, windowMs);
        if (window !== undefined) return { window, isNew: true };
      }
      throw leaseBusy(lease);
    });
  }

  /**
   * Raises `until` to `windowMs` from now, or leaves it where it is later; up to a second more for the mark.
   *
   * @param workerId the worker ID of the window; without it, all records are read
   * @param progress without it, copies of the caller are not noticed
   * @throws LeafError `LEAF_LEASE_NOT_FOUND`, `LEAF_LEASE_LOST`, `LEAF_REGISTRY_UNREACHABLE`
   */
  extend(lease: string, windowMs: number, workerId?: number, progress?: WindowProgress): Promise<WorkerWindow> {
    return this.turns.run(lease, async () => {
      const found = await this.find(lease, workerId);
      if (found !== undefined) return this.raise(found, windowMs, progress);
      await this.registry.assertSettled();
      throw windowNotFound(lease);
    });
  }

  /**
   * Releases the worker ID of a window; does nothing if the lease has none. The next holder issues only above
   * `lastTimestamp`.
   *
   * @param lastTimestamp Unix milliseconds of the newest ID; undefined, or a copy of the caller has extended the window:
   *   any timestamp up to `until` may be used
   * @throws LeafError `LEAF_BODY_INVALID` for a timestamp after `until`, `LEAF_REGISTRY_UNREACHABLE`
   */
  release(lease: string, lastTimestamp?: number, progress?: WindowProgress): Promise<void> {
    return this.turns.run(lease, async () => {
      const held = this.held.get(lease);
      if (held !== undefined && (await this.lossCheck())(held.claim)) await this.register(lease, held);
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        // All of them: an answer that never arrived may have left a second one.
        const found = await this.windowsOf(lease);
        if (found.length === 0) {
          this.held.delete(lease);
          return;
        }
        const latest = Math.max(...found.map(({ until }) => until));
        const newest = isOwn(latest, progress) ? (lastTimestamp ?? latest) : latest;
        if (newest > latest) throw timestampBeyond(newest, latest);
        for (const { stored, from, until } of found) {
          await this.registry.withdraw(stored, Math.min(until, Math.max(from - 1, newest)));
        }
      }
      throw leaseBusy(lease);
    });
  }

  /** The windows that have not ended. @throws LeafError `LEAF_REGISTRY_UNREACHABLE` */
  async list(): Promise<readonly WorkerWindow[]> {
    const now = this.clock.now();
    return windowsIn(await this.registry.records()).filter(({ until }) => until >= now);
  }

  /**
   * R5: if the registry has lost its history, registers the windows again that this server has written, also those whose
   * records are deleted in the grace period. Run it every report interval.
   *
   * @throws LeafError `LEAF_REGISTRY_UNREACHABLE`
   */
  async keep(): Promise<void> {
    const now = this.clock.monotonic();
    for (const [lease, { endsAt }] of this.held) if (endsAt < now) this.held.delete(lease);
    if (this.held.size === 0) return;
    const lost = await this.lostWindows();
    for (let done = 0; done < lost.length; done += BATCH) {
      await this.registry.holdGraceOpen();
      await this.registry.registerAgain(lost.slice(done, done + BATCH).map(([, { claim }]) => claim));
    }
    if (lost.length === 0) return;
    // Windows whose records others have written, or the registry has in an earlier state.
    const rest = await this.lostWindows();
    for (let done = 0; done < rest.length; done += REGISTRATIONS) {
      await this.registry.holdGraceOpen();
      const some = rest.slice(done, done + REGISTRATIONS);
      await forEachParallel(some, REGISTRATIONS, ([lease, held]) =>
        this.turns.run(lease, () => this.register(lease, held)),
      );
    }
  }

  /**
   * Those that last longest first: if the grace period, although held open, is too short for all, the others end soon.
   */
  private async lostWindows(): Promise<[string, HeldWindow][]> {
    const isLost = await this.lossCheck();
    const lost = [...this.held].filter(([, { claim }]) => isLost(claim));
    return lost.sort(([, a], [, b]) => b.endsAt - a.endsAt);
  }

  /** Whether the registry has lost the record of a claim. */
  private async lossCheck(): Promise<(claim: WorkerClaim) => boolean> {
    const history = await this.registry.history();
    const present = isYoung(history) ? (await this.registry.records()).map(({ workerId }) => workerId) : undefined;
    return (claim) => !claim.isOf(history) || present?.includes(claim.workerId) === false;
  }

  private async register(lease: string, held: Holding): Promise<void> {
    if (this.held.get(lease)?.claim !== held.claim) return;
    const { ceiling } = held.claim;
    await this.record(held, (recorded) => Math.max(recorded, ceiling));
  }

  /** @returns whether the window was recorded; if not, the caller may still use it to its end */
  private async record(
    { holder, claim }: Holding,
    endAfter: (recorded: number) => number,
    progress?: WindowProgress,
  ): Promise<boolean> {
    const seen = { isOwn: true };
    const endAfterOwn = (recorded: number): number | undefined => {
      seen.isOwn = isOwn(recorded, progress);
      return seen.isOwn ? endAfter(recorded) : undefined;
    };
    if ((await claim.extend(endAfter(claim.ceiling), endAfterOwn).catch(unlessLost)) === true) return true;
    if (!seen.isOwn) throw windowCopied(holder.lease, claim.workerId);
    const history = await this.registry.history();
    // The history was lost, and another holder was faster or the window is about to end.
    if (!claim.isOf(history) || isYoung(history)) await this.registry.reserve(claim.workerId, claim.ceiling, holder);
    this.held.delete(holder.lease);
    return false;
  }

  private async acquire(lease: string, name: string, windowMs: number): Promise<WorkerWindow | undefined> {
    this.room(await this.registry.records());
    const holder = new WindowHolder(lease, name, this.server);
    const refuse = (_ms: number, reason: Error): Promise<never> => Promise.reject(reason);
    const claim = await this.registry
      .acquire(holder, refuse, windowMs, (records) => this.room(records))
      .catch(asConflict);
    const written = holder.attempted;
    // Two requests with one lease, at two servers, may both have found nothing: only one of their windows may be used.
    const records = await this.registry.records();
    const all = windowsIn(records).filter((window) => window.lease === lease);
    const isTooMany = this.reserved(records) > this.most;
    if (!isTooMany && all.every(({ workerId }) => workerId === claim.workerId)) return this.windowWith(holder, claim);
    const own = all.find(({ workerId, stored }) => workerId === claim.workerId && stored.record.write === written);
    // No response has named this window: a server that finds a record responds only after writing it again.
    if (own !== undefined) await this.registry.withdraw(own.stored, claim.floor);
    if (isTooMany) throw windowsUsedUp(this.most);
    return undefined;
  }

  /**
   * How many windows may still be acquired. Requests that come at the same time compete for as many worker IDs, and
   * leave the other ones to servers.
   */
  private room(records: readonly StoredWorker[]): number {
    const left = this.most - this.reserved(records);
    if (left <= 0) throw windowsUsedUp(this.most);
    return left;
  }

  /**
   * How many worker IDs of this server's range nobody else can acquire now because of windows, also of those that were
   * released early.
   */
  private reserved(records: readonly StoredWorker[]): number {
    const now = this.clock.now();
    const { usableWorkers } = this.registry;
    const own = records.filter(({ workerId }) => isWorkerIn(usableWorkers, workerId));
    return own.filter(({ record }) => {
      const isReserved = record.free ? record.ceiling >= now : record.ceiling + MARGIN_MS >= now;
      return isReserved && windowOf(record) !== undefined;
    }).length;
  }

  /**
   * The window of a request with this lease whose response was lost. If there are several, this is the one that ends
   * last: the writes of the others were applied late. Withdraws the others, so that nobody uses their worker IDs before
   * they end. Withdraws this one too if it was acquired before the registry lost its history: another holder may have
   * the worker ID.
   */
  private async findUnanswered(lease: string): Promise<Holding | undefined> {
    const [last, ...others] = (await this.windowsOf(lease)).sort((a, b) => b.until - a.until);
    if (last === undefined) return undefined;
    for (const { stored, until } of others) await this.registry.withdraw(stored, until);
    if (await this.registry.isOfThisHistory(last.from - 1)) return this.resume(last);
    await this.registry.withdraw(last.stored, last.until);
    return undefined;
  }

  private async raise(held: Holding, windowMs: number, progress?: WindowProgress): Promise<WorkerWindow> {
    const { holder, claim } = held;
    const least = this.clock.now() + windowMs;
    // Without a mark, the end keeps its own: a request that is executed late is not taken for a copy of its caller.
    const endAfter = (recorded: number): number => marked(Math.max(recorded, least), progress?.mark ?? recorded);
    if (await this.record(held, endAfter, progress)) return this.windowWith(holder, claim);
    const records = (await this.registry.records()).filter(({ record }) => windowOf(record)?.lease === holder.lease);
    throw records.some(({ record }) => record.free)
      ? windowNotFound(holder.lease)
      : windowLost(holder.lease, claim.workerId);
  }

  private windowWith(holder: WindowHolder, claim: WorkerClaim): WorkerWindow {
    const { lease } = holder;
    const { workerId, floor, ceiling } = claim;
    const endsAt = this.clock.monotonic() + ceiling - this.clock.now();
    this.held.set(lease, { holder, claim, endsAt });
    return { workerId, lease, holder: holder.name, from: floor + 1, until: ceiling };
  }

  private async find(lease: string, workerId: number | undefined): Promise<Holding | undefined> {
    const held = this.held.get(lease);
    if (held !== undefined && (workerId === undefined || held.claim.workerId === workerId)) return held;
    const found = await this.windowsOf(lease);
    const [first, second] = workerId === undefined ? found : found.filter((one) => one.workerId === workerId);
    if (second !== undefined) throw leaseBusy(lease);
    return first && this.resume(first);
  }

  private async resume({ stored, ...window }: FoundWindow): Promise<Holding> {
    const holder = WindowHolder.of(window, this.server);
    return { holder, claim: await this.registry.resume(holder, stored, window.from - 1) };
  }

  private async windowsOf(lease: string): Promise<FoundWindow[]> {
    return windowsIn(await this.registry.records()).filter((window) => window.lease === lease);
  }
}

/** The first time from `until` on that has the mark. */
function marked(until: number, mark: number): number {
  return until + ((((mark - until) % MARKS) + MARKS) % MARKS);
}

/**
 * Whether the caller itself has extended its window to `until`: it knows of it, its answer was lost, or another try of
 * the extension that it knows was executed after its answer.
 */
function isOwn(until: number, progress: WindowProgress | undefined): boolean {
  if (progress === undefined || until <= progress.known) return true;
  const mark = until % MARKS;
  return mark === progress.mark || mark === progress.known % MARKS;
}

/** Whether holders may still register again (R5). */
function isYoung({ floor }: RegistryDocument): boolean {
  return floor === undefined;
}

/** The windows that are not released. */
function windowsIn(records: readonly StoredWorker[]): FoundWindow[] {
  return records.flatMap((stored) => {
    const { workerId, record } = stored;
    const window = record.free ? undefined : windowOf(record);
    return window === undefined ? [] : [{ ...window, workerId, until: record.ceiling, stored }];
  });
}
