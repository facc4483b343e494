import type { Clock } from '../clock/clock';
import { LeafError } from '../errors/leaf-error';
import { PeriodicTask, type PeriodicTaskSnapshot } from '../periodic-task';
import type { IssueWindow } from '../snowflake/issue-window';
import { formatInstance, type Instance } from './instance';
import type { WorkerClaim, WorkerRegistry } from './worker-registry';

export interface WorkerLeaseOptions {
  /** How far ahead of the clock time is reserved, in milliseconds. */
  readonly horizonMs: number;
  /** Highest worker ID that the bit layout holds. */
  readonly maxWorkerId: number;
}

export interface WorkerLeaseSnapshot {
  readonly registry: string;
  readonly instance: string;
  readonly workerId: number;
  /** Unix milliseconds. */
  readonly floor: number;
  /** Unix milliseconds. */
  readonly ceiling: number;
  /** Since the registry last took a ceiling, in milliseconds. */
  readonly sinceRecordedMs: number;
  readonly lost: string | undefined;
  readonly report: PeriodicTaskSnapshot;
}

export interface WorkerLeaseEvents {
  /** A report failed; the lease holds up to its ceiling and tries again. */
  readonly onReportFailed: (error: unknown) => void;
  /** The worker ID belongs to somebody else. */
  readonly onLost: (error: LeafError) => void;
}

/** After a failed report, on-demand renewal waits this long before it bothers the registry again. */
const RENEW_PAUSE_MS = 500;

/**
 * The right to issue as one worker, as a window of time. States: held → lost, or held → released; both are final.
 *
 * R1: the ceiling rises only after the registry has recorded the new one. R2: the floor is the ceiling that the
 * acquisition replaced. R3: a failed compare ends the lease for good. R4: a release leaves the newest issued timestamp
 * as the ceiling. Two windows of one worker therefore never overlap, whatever the clocks do: order the holders by
 * their compare-and-sets; all that holder *i* issues is at or below the last ceiling it recorded, and holder *i+1*
 * starts above that.
 */
export class WorkerLease implements IssueWindow {
  readonly workerId: number;
  readonly floor: number;
  ceiling: number;
  renewAfter: number;
  lost: LeafError | undefined;

  /** The report to the registry: extends the ceiling to now + horizon. Run it every report interval. */
  readonly report: PeriodicTask;

  /** By the monotonic clock. */
  private recordedAt: number;
  private renewPausedUntil = -Infinity;
  private released: Promise<void> | undefined;

  private constructor(
    private readonly registry: WorkerRegistry,
    private readonly instance: Instance,
    private claim: WorkerClaim,
    private readonly clock: Clock,
    private readonly options: WorkerLeaseOptions,
    private readonly events: WorkerLeaseEvents,
  ) {
    this.workerId = claim.workerId;
    this.floor = claim.previousCeiling;
    this.ceiling = claim.ceiling;
    this.renewAfter = this.renewalPoint();
    this.recordedAt = clock.monotonic();
    this.report = new PeriodicTask(
      'time-report',
      () => this.extend(),
      clock,
      (error) => this.reportFailed(error),
    );
  }

  /**
   * Acquires a worker ID. The lease may begin in the future: its floor says when.
   *
   * @param leaseId random, new for every acquisition
   * @throws LeafError `LEAF_CLOCK_BEHIND` when the recorded ceiling is more than one horizon ahead of the clock, or what
   *   the registry throws
   */
  static async acquire(
    registry: WorkerRegistry,
    instance: Instance,
    leaseId: string,
    clock: Clock,
    options: WorkerLeaseOptions,
    events: WorkerLeaseEvents,
  ): Promise<WorkerLease> {
    const claim = await registry.acquire({ ...instance, leaseId }, (recorded) => {
      const now = clock.now();
      if (recorded - now > options.horizonMs) throw clockBehind(recorded, now, instance, registry, options);
      return Math.max(now + options.horizonMs, recorded + 1);
    });
    if (claim.workerId > options.maxWorkerId) {
      await registry.release(claim, claim.previousCeiling).catch(() => undefined);
      throw new LeafError(
        'LEAF_LAYOUT_INVALID',
        `${registry.description} gave worker ID ${claim.workerId}, but the bit layout holds worker IDs up to ${options.maxWorkerId}. Give the layout more worker bits, or the registry lower IDs.`,
      );
    }
    return new WorkerLease(registry, instance, claim, clock, options, events);
  }

  renew(): Promise<void> {
    if (this.clock.monotonic() < this.renewPausedUntil) return Promise.resolve();
    return this.report.run();
  }

  /**
   * Ends the lease: nothing is issued any more, and the next holder may start after `lastTimestamp`. Later calls join the
   * first.
   *
   * @param lastTimestamp Unix milliseconds of the newest ID, below the floor when there is none
   * @throws LeafError what the registry throws
   */
  release(lastTimestamp: number): Promise<void> {
    this.released ??= this.giveBack(lastTimestamp);
    return this.released;
  }

  snapshot(): WorkerLeaseSnapshot {
    return {
      registry: this.registry.description,
      instance: formatInstance(this.instance),
      workerId: this.workerId,
      floor: this.floor,
      ceiling: this.ceiling,
      sinceRecordedMs: this.clock.monotonic() - this.recordedAt,
      lost: this.lost?.message,
      report: this.report.snapshot(),
    };
  }

  private async giveBack(lastTimestamp: number): Promise<void> {
    const alreadyLost = this.lost !== undefined;
    this.lost ??= new LeafError('LEAF_NOT_READY', `Worker ${this.workerId} was given back: this server is stopping.`);
    await this.report.stop();
    if (!alreadyLost) await this.registry.release(this.claim, Math.max(this.floor, lastTimestamp));
  }

  private async extend(): Promise<void> {
    const ceiling = this.clock.now() + this.options.horizonMs;
    if (this.lost !== undefined || ceiling <= this.ceiling) return;
    this.claim = await this.registry.extend(this.claim, ceiling);
    this.ceiling = this.claim.ceiling;
    this.renewAfter = this.renewalPoint();
    this.recordedAt = this.clock.monotonic();
  }

  private renewalPoint(): number {
    return this.ceiling - this.options.horizonMs / 2;
  }

  private reportFailed(error: unknown): void {
    this.renewPausedUntil = this.clock.monotonic() + RENEW_PAUSE_MS;
    if (error instanceof LeafError && error.code === 'LEAF_LEASE_LOST') {
      this.lost ??= error;
      this.events.onLost(error);
    } else {
      this.events.onReportFailed(error);
    }
  }
}

function clockBehind(
  recorded: number,
  now: number,
  instance: Instance,
  registry: WorkerRegistry,
  { horizonMs }: WorkerLeaseOptions,
): LeafError {
  return new LeafError(
    'LEAF_CLOCK_BEHIND',
    `The clock of ${formatInstance(instance)} is ${recorded - now} ms behind the time that ${registry.description} has reserved for its worker ID; up to ${horizonMs} ms would be waited for. Correct the clock of this host, or wait until it has passed ${recorded} (Unix ms).`,
  );
}
