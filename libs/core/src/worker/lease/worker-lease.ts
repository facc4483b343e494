import type { Clock } from '../../clock/clock';
import { codeOf, LeafError, messageOf } from '../../errors/leaf-error';
import { PeriodicTask, type PeriodicTaskSnapshot } from '../../util/periodic-task';
import type { IssueWindow, Term } from '../../snowflake/issue-window';
import { endsLease } from '../registry/worker-errors';
import { formatInstance, type Instance } from '../records/instance';
import { LeaseHolder } from '../records/lease-holder';
import type { WorkerClaim } from './worker-claim';
import type { WorkerRegistry } from './worker-registry';

export interface WorkerLeaseSnapshot {
  readonly registry: string;
  readonly instance: string;
  /** Undefined while no worker ID is held. */
  readonly workerId: number | undefined;
  /** Unix milliseconds; -1 before the first acquisition. */
  readonly floor: number;
  /** Unix milliseconds; -1 before the first acquisition. */
  readonly ceiling: number;
  /** Time since a ceiling was last recorded, in milliseconds. */
  readonly sinceRecordedMs: number;
  /** Why this lease has ended permanently; undefined while it has not. */
  readonly lost: string | undefined;
  /** Why the worker file replaces the registry; undefined while the registry is reachable. */
  readonly degradedReason: string | undefined;
  readonly report: PeriodicTaskSnapshot;
}

export interface WorkerLeaseEvents {
  /** The acquisition must wait. Called once per worker ID, with the first reason. */
  readonly onWaiting: (reason: LeafError) => void;
  readonly onAcquired: (term: Term) => void;
  /** An acquisition failed; the next report retries. Not called again for consecutive failures with the same reason. */
  readonly onAcquireFailed: (error: unknown) => void;
  /** A report failed; the lease stays valid up to its ceiling, and the next report retries. */
  readonly onReportFailed: (error: unknown) => void;
  /** The registry has lost its history, and the worker ID was registered again. */
  readonly onRegisteredAgain: (workerId: number) => void;
  /**
   * The registry has lost its history, or a pool has assigned the worker to another server. This server acquires
   * another worker ID.
   */
  readonly onHistoryLost: (workerId: number) => void;
  /** The worker ID belongs to another server. */
  readonly onLost: (error: LeafError) => void;
}

/** Pause of on-demand renewals after a failed report, in milliseconds. */
const RENEW_PAUSE_MS = 500;

/**
 * The right to issue IDs as one worker within a time window, under the rules R1 to R13 of docs/architecture.md.
 *
 * ```
 * acquiring ──► held ──► lost          another server with this address has the worker: final
 *     ▲           │ └──► released      final
 *     └───────────┘ another server has the worker: history was lost, or a pool reassigned it
 * ```
 *
 * Two windows of one worker never overlap, regardless of the clocks: all IDs of a holder are at or below the last
 * ceiling it recorded, and the next holder starts above that.
 */
export class WorkerLease implements IssueWindow {
  term: Term | undefined;
  ceiling = -1;
  renewAfter = -1;
  refusal: LeafError = new LeafError('LEAF_NOT_READY', 'This server is starting and has no worker ID yet.', {
    retryAfterMs: 1000,
  });

  /** The report to the registry: sets the ceiling to now + lease TTL. Run it every report interval. */
  readonly report: PeriodicTask;

  private readonly holder: LeaseHolder;
  private claim: WorkerClaim | undefined;
  private acquiring: Promise<void> | undefined;
  private lost: LeafError | undefined;
  private released: Promise<void> | undefined;
  private readonly stopping = new AbortController();
  /** Time of the latest recorded ceiling, in monotonic milliseconds. */
  private recordedAt: number;
  private renewPausedUntil = -Infinity;
  private isWaiting = false;
  /** Why the last acquisition failed; undefined after a success. */
  private failure: string | undefined;

  /**
   * @param leaseId random, unique
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
   * Acquires a worker ID; joins an acquisition in progress. After a rejection that is not final, call it again, or let
   * the reports retry.
   *
   * @throws LeafError as {@link WorkerRegistry.acquire}, or the error that ended the lease
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
   * Ends the lease: no more IDs are issued, and the next holder may start after the newest ID. Later calls join the
   * first one.
   *
   * @throws LeafError the errors of the registry
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
      workerId: this.term?.workerId,
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
      this.term = { workerId: claim.workerId, floor: claim.floor };
      this.failure = undefined;
      this.events.onAcquired(this.term);
    } catch (error) {
      if (error instanceof LeafError) this.refusal = error;
      // The message of a clock that is behind changes with every attempt.
      const failure = codeOf(error) ?? messageOf(error);
      if (failure !== this.failure && !this.stopping.signal.aborted) this.events.onAcquireFailed(error);
      this.failure = failure;
      throw error;
    }
  }

  private async wait(ms: number, reason: LeafError): Promise<void> {
    // During a retry, the last failure remains the refusal.
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
    // Earlier holders have issued up to the floor: the next holder must not read a lower ceiling.
    const ceiling = Math.max(this.holder.newest(), claim.floor, clock.now() + this.registry.options.leaseTtlMs);
    if (ceiling < this.ceiling) this.ceiling = ceiling;
    const { registrations } = claim;
    if (await claim.extend(ceiling)) this.recorded(claim.ceiling);
    else this.acquireAnother(claim);
    if (claim.registrations > registrations) this.events.onRegisteredAgain(claim.workerId);
  }

  private acquireAnother({ workerId }: WorkerClaim): void {
    this.claim = undefined;
    this.term = undefined;
    this.refusal = new LeafError(
      'LEAF_NOT_READY',
      `This server no longer holds worker ${workerId} of ${this.registry.description}: the registry has lost its history, or has assigned the worker to another server after its reserved time had passed. This server acquires another worker ID.`,
      { retryAfterMs: 1000 },
    );
    this.events.onHistoryLost(workerId);
    this.acquireInBackground();
  }

  private acquireInBackground(): void {
    // The acquisition itself reports its failures.
    void this.acquire().catch(() => undefined);
  }

  private recorded(ceiling: number): void {
    this.ceiling = ceiling;
    this.renewAfter = ceiling - this.registry.options.leaseTtlMs / 2;
    this.recordedAt = this.clock.monotonic();
  }

  private end(error: LeafError): void {
    this.term = undefined;
    this.refusal = error;
  }

  private reportFailed(error: unknown): void {
    this.renewPausedUntil = this.clock.monotonic() + RENEW_PAUSE_MS;
    if (endsLease(error)) {
      this.lost = error;
      this.end(error);
      this.events.onLost(error);
    } else {
      this.events.onReportFailed(error);
    }
  }
}

function stopped(): LeafError {
  return new LeafError('LEAF_NOT_READY', 'Leaf is stopping and has released its worker ID.');
}
