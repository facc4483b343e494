import type { Clock } from '../clock/clock';
import { LeafError, messageOf } from '../errors/leaf-error';
import { PeriodicTask, type PeriodicTaskSnapshot } from '../periodic-task';
import type { IssueWindow, Tenure } from '../snowflake/issue-window';
import { formatInstance, type Instance } from './instance';
import { LeaseHolder } from './lease-holder';
import type { WorkerClaim } from './worker-claim';
import type { WorkerRegistry } from './worker-registry';

export interface WorkerLeaseSnapshot {
  readonly registry: string;
  readonly instance: string;
  /** Undefined while none is held. */
  readonly workerId: number | undefined;
  /** Unix milliseconds; -1 before the first acquisition. */
  readonly floor: number;
  /** Unix milliseconds; -1 before the first acquisition. */
  readonly ceiling: number;
  /** Since a ceiling was last recorded, in milliseconds. */
  readonly sinceRecordedMs: number;
  /** Why this lease has ended for good; undefined while it has not. */
  readonly lost: string | undefined;
  /** Why the worker file replaces the registry; undefined while the registry is reached. */
  readonly degradedReason: string | undefined;
  readonly report: PeriodicTaskSnapshot;
}

export interface WorkerLeaseEvents {
  /** The acquisition has to wait. Called once for each worker ID, with the first reason. */
  readonly onWaiting: (reason: LeafError) => void;
  readonly onAcquired: (tenure: Tenure) => void;
  /** An acquisition failed; the next report tries again. Called once for each reason in a row. */
  readonly onAcquireFailed: (error: unknown) => void;
  /** A report failed; the lease holds up to its ceiling and tries again. */
  readonly onReportFailed: (error: unknown) => void;
  /** The registry has lost its history, and the worker ID was registered again. */
  readonly onRegisteredAgain: (workerId: number) => void;
  /**
   * The registry has lost its history, or a pool has given the worker to another server; another worker ID is acquired.
   */
  readonly onHistoryLost: (workerId: number) => void;
  /** The worker ID belongs to another server. */
  readonly onLost: (error: LeafError) => void;
}

/** After a failed report, on-demand renewal waits this long before it asks the registry again. */
const RENEW_PAUSE_MS = 500;

/**
 * The right to issue as one worker, as a window of time.
 *
 * ```
 * acquiring ──► held ──► lost          a twin has the worker: final
 *     ▲           │ └──► released      final
 *     └───────────┘ another server has the worker: history was lost, or a pool gave it away
 * ```
 *
 * R1: the ceiling rises only after it was recorded. R2: the floor is the ceiling that the acquisition replaced. R3: a
 * failed compare that is not explained ends the lease. R4: a release leaves the newest issued timestamp as the ceiling.
 * R9: a report may lower the ceiling, down to the newest issued timestamp or the floor, in memory before the write
 * leaves. Two windows of one worker therefore never overlap, whatever the clocks do: order the holders by their
 * compare-and-sets; all that holder *i* issues is at or below the last ceiling it recorded, and holder *i+1* starts
 * above that.
 */
export class WorkerLease implements IssueWindow {
  tenure: Tenure | undefined;
  ceiling = -1;
  renewAfter = -1;
  refusal: LeafError = new LeafError('LEAF_NOT_READY', 'This server has no worker ID yet: it is starting.', {
    retryAfterMs: 1000,
  });

  /** The report to the registry: extends the ceiling to now + horizon. Run it every report interval. */
  readonly report: PeriodicTask;

  private readonly holder: LeaseHolder;
  private claim: WorkerClaim | undefined;
  private acquiring: Promise<void> | undefined;
  private lost: LeafError | undefined;
  private released: Promise<void> | undefined;
  private readonly stopping = new AbortController();
  /** By the monotonic clock. */
  private recordedAt: number;
  private renewPausedUntil = -Infinity;
  private isWaiting = false;
  /** Why the last acquisition failed; undefined after one that did not. */
  private failure: string | undefined;

  /**
   * @param leaseId random, never used before
   * @param newest Unix milliseconds of the newest ID issued, -1 before the first
   */
  constructor(
    private readonly registry: WorkerRegistry,
    private readonly instance: Instance,
    leaseId: string,
    newest: () => number,
    private readonly clock: Clock,
    private readonly events: WorkerLeaseEvents,
  ) {
    this.holder = new LeaseHolder(instance, leaseId, newest);
    this.recordedAt = clock.monotonic();
    this.report = new PeriodicTask(
      'time-report',
      () => this.extend(),
      clock,
      (error) => this.reportFailed(error),
    );
  }

  /**
   * Acquires a worker ID; joins an acquisition under way. After a rejection that is not final, call it again, or let
   * the reports do so.
   *
   * @throws LeafError as {@link WorkerRegistry.acquire}, or why the lease has ended
   */
  acquire(): Promise<void> {
    const ended = this.lost ?? (this.stopping.signal.aborted ? stopped() : undefined);
    if (ended !== undefined) return Promise.reject(ended);
    if (this.claim !== undefined) return Promise.resolve();
    this.acquiring ??= this.take().finally(() => (this.acquiring = undefined));
    return this.acquiring;
  }

  renew(): Promise<void> {
    if (this.clock.monotonic() < this.renewPausedUntil) return Promise.resolve();
    return this.report.run();
  }

  /**
   * Ends the lease: nothing is issued any more, and the next holder may start after the newest ID. Later calls join the
   * first.
   *
   * @throws LeafError what the registry throws
   */
  release(): Promise<void> {
    this.released ??= this.giveBack();
    return this.released;
  }

  snapshot(): WorkerLeaseSnapshot {
    const { claim } = this;
    return {
      registry: this.registry.description,
      instance: formatInstance(this.instance),
      workerId: this.tenure?.workerId,
      floor: claim?.floor ?? -1,
      ceiling: this.ceiling,
      sinceRecordedMs: this.clock.monotonic() - this.recordedAt,
      lost: this.lost?.message,
      degradedReason: claim?.degradedReason,
      report: this.report.snapshot(),
    };
  }

  private async take(): Promise<void> {
    try {
      const claim = await this.registry.acquire(this.holder, (ms, reason) => this.wait(ms, reason));
      if (this.stopping.signal.aborted) {
        await claim.release(claim.floor);
        throw stopped();
      }
      this.claim = claim;
      this.isWaiting = false;
      this.recorded(claim.ceiling);
      this.tenure = { workerId: claim.workerId, floor: claim.floor };
      this.failure = undefined;
      this.events.onAcquired(this.tenure);
    } catch (error) {
      if (error instanceof LeafError) this.refusal = error;
      if (messageOf(error) !== this.failure && !this.stopping.signal.aborted) this.events.onAcquireFailed(error);
      this.failure = messageOf(error);
      throw error;
    }
  }

  private async wait(ms: number, reason: LeafError): Promise<void> {
    // While a retry waits, the last failure stays the refusal.
    if (this.failure === undefined) {
      if (!this.isWaiting) this.events.onWaiting(reason);
      this.refusal = reason;
    }
    this.isWaiting = true;
    await this.clock.sleep(ms, this.stopping.signal);
    if (this.stopping.signal.aborted) throw stopped();
  }

  private async giveBack(): Promise<void> {
    this.stopping.abort();
    this.end(this.lost ?? stopped());
    await this.report.stop();
    await this.acquiring?.catch(() => undefined);
    const { claim } = this;
    if (claim !== undefined && this.lost === undefined)
      await claim.release(Math.max(claim.floor, this.holder.newest()));
  }

  private async extend(): Promise<void> {
    const { claim, clock } = this;
    if (this.lost !== undefined) return;
    if (claim === undefined) {
      this.acquireInBackground();
      return;
    }
    // Others have issued below the floor: the next holder must not read a lower ceiling.
    const ceiling = Math.max(this.holder.newest(), claim.floor, clock.now() + this.registry.options.horizonMs);
    if (ceiling < this.ceiling) this.ceiling = ceiling;
    const { registrations } = claim;
    if (await claim.extend(ceiling)) this.recorded(claim.ceiling);
    else this.acquireAnother(claim);
    if (claim.registrations > registrations) this.events.onRegisteredAgain(claim.workerId);
  }

  private acquireAnother({ workerId }: WorkerClaim): void {
    this.claim = undefined;
    this.tenure = undefined;
    this.refusal = new LeafError(
      'LEAF_NOT_READY',
      `Worker ${workerId} of ${this.registry.description} is no longer held by this server: the registry has lost its history, or has given it to another server once its time had passed. This server acquires another one.`,
      { retryAfterMs: 1000 },
    );
    this.events.onHistoryLost(workerId);
    this.acquireInBackground();
  }

  private acquireInBackground(): void {
    // Every acquisition reports its failures itself.
    void this.acquire().catch(() => undefined);
  }

  private recorded(ceiling: number): void {
    this.ceiling = ceiling;
    this.renewAfter = ceiling - this.registry.options.horizonMs / 2;
    this.recordedAt = this.clock.monotonic();
  }

  private end(error: LeafError): void {
    this.tenure = undefined;
    this.refusal = error;
  }

  private reportFailed(error: unknown): void {
    this.renewPausedUntil = this.clock.monotonic() + RENEW_PAUSE_MS;
    if (error instanceof LeafError && error.code === 'LEAF_LEASE_LOST') {
      this.lost = error;
      this.end(error);
      this.events.onLost(error);
    } else {
      this.events.onReportFailed(error);
    }
  }
}

function stopped(): LeafError {
  return new LeafError('LEAF_NOT_READY', 'This server is stopping: its worker ID was given back.');
}
