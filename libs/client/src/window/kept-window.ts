import { type BitLayout, LeafError, isLeafError } from '@leaf-ids/core';
import {
  backoffMs,
  type BackoffOptions,
  type IssueWindow,
  leaseStep,
  leaseText,
  RecentRefusal,
  retry,
  type Term,
  withinDeadline,
} from '@leaf-ids/core/internal';
import { asRefusal, BACKOFF, isPassing, LoadRecord } from '../prefetch/load-record';
import { LeaseRequests, type WindowAnswer } from './lease-requests';
import type { ResolvedWindow, WindowContext } from './window-options';

/** A window is not extended again before this share of it has passed. */
const SHORTEST_SHARE = 0.1;
/** Longest wait after a failed extension, in milliseconds; shorter for short windows. */
const MAX_BACKOFF_MS = 30_000;

/**
 * The worker ID of a client, with the window of time in which it may issue IDs: the rules of docs/worker-windows.md.
 *
 * ```
 * idle ──► acquiring ──► held ──► acquiring   409 or 404: with a new lease
 *   ▲          │          └──► ended          the layout has changed: final
 *   └──────────┘ refused permanently; the next call acquires again
 * ```
 *
 * One request is sent at a time, and its answer is read only until its time limit. So the newest answer that has
 * arrived counts, also if its `until` is lower, and no answer of one lease reaches the term of the next.
 */
export class KeptWindow implements IssueWindow {
  term: Term | undefined;
  ceiling = -1;
  renewAfter = 0;
  refusal = notYet();
  /** Layout of the answers; the expected one before the first answer. */
  layout: BitLayout | undefined;
  readonly record = new LoadRecord();
  /** Fulfilled at the next answer, refusal or loss. */
  changed!: Promise<void>;

  private held: HeldWindow | undefined;
  /** Those of the newest lease: also if no answer has arrived, a server may have given a worker ID to it. */
  private requests: LeaseRequests | undefined;
  private keeping: Promise<void> | undefined;
  private nap: AbortController | undefined;
  private isFinal = false;
  private readonly refused: RecentRefusal;
  /** Monotonic, as `extendAt`. */
  private renewableAt = 0;
  private extendAt = 0;
  private notify: (() => void) | undefined;

  /**
   * @param expected the layout of the options
   * @param newest Unix milliseconds of the newest ID issued, -1 before the first
   */
  constructor(
    private readonly context: WindowContext,
    private readonly options: ResolvedWindow,
    expected: BitLayout | undefined,
    private readonly newest: () => number,
  ) {
    this.layout = expected;
    this.refused = new RecentRefusal(context.clock);
    this.announce();
  }

  /** Whether a worker ID is held or being acquired. */
  get active(): boolean {
    return this.keeping !== undefined && !this.isFinal;
  }

  /** Whether a request is in progress or waits for its next try. */
  get isAsking(): boolean {
    return this.active && this.nap === undefined;
  }

  /** Unix milliseconds of the first timestamp of the window; -1 while there is none. */
  get from(): number {
    return this.held?.answer.from ?? -1;
  }

  /** Acquires a worker ID in the background, and keeps it; unless it does so already, or was just refused. */
  open(): void {
    if (this.isFinal || this.keeping !== undefined || this.refused.isRecent) return;
    if (!this.refusal.retryable) this.refusal = notYet();
    this.keeping = this.keep().finally(() => (this.keeping = undefined));
  }

  renew(): Promise<void> {
    // Without a nap, a request is in progress: join it.
    if (this.nap !== undefined && this.context.clock.monotonic() < this.renewableAt) return Promise.resolve();
    this.nap?.abort();
    return this.changed;
  }

  /** Ends the issuing of IDs. Abort `closing` afterwards, then call {@link release}. */
  close(reason: LeafError): void {
    this.isFinal = true;
    this.end(reason);
    this.nap?.abort();
  }

  /**
   * Releases the worker ID, within the time limit of a call. After a failure, it stays reserved up to the end of its
   * window.
   */
  async release(): Promise<void> {
    const { clock, random, timeoutMs, events } = this.context;
    const deadline = clock.monotonic() + timeoutMs;
    // The request in progress may give or extend a window.
    await withinDeadline(this.keeping ?? Promise.resolve(), deadline, clock);
    const { requests } = this;
    if (requests === undefined) return;
    // No try may follow: the caller then closes the connections.
    const over = new AbortController();
    const options = { ...BACKOFF, attempts: Infinity, isRetryable: isPassing, signal: over.signal };
    try {
      await withinDeadline(
        retry(() => requests.release(this.lastUsed()), options, clock, random),
        deadline,
        clock,
      );
    } catch (error) {
      events.onWindowFailed(error);
    } finally {
      over.abort();
    }
  }

  /** Ends when the client closes or a server refuses permanently. */
  private async keep(): Promise<void> {
    const { clock, random, closing, newLease, requester } = this.context;
    for (let losses = 0; !closing.aborted;) {
      // A request under the lease may have been refused after one whose answer was lost.
      const requests = (this.requests ??= new LeaseRequests(newLease(), requester, this.options, random, clock));
      try {
        const answer = await this.acquire(requests);
        losses = 0;
        while (await this.untilHalf()) await this.extend(requests, answer);
      } catch (error) {
        if (this.isFinal) return;
        if (!isLost(error)) {
          this.refuse(error);
          return;
        }
        this.lose(error);
        await clock.sleep(backoffMs(++losses, BACKOFF, random), closing);
      }
    }
  }

  private async acquire(requests: LeaseRequests): Promise<WindowAnswer> {
    const answer = await this.attempt(() => requests.acquire(), { ...BACKOFF, isRetryable: isPassing });
    // A clock that was set back must not repeat a timestamp of an earlier window of the same worker.
    const floor = Math.max(answer.from - 1, this.newest());
    this.held = { answer, floor };
    this.accept(answer, requests);
    // The client may have been closed meanwhile.
    if (this.isFinal) return answer;
    this.term = { workerId: answer.workerId, floor };
    this.context.events.onWindowAcquired(answer.workerId, answer.until);
    this.announce();
    return answer;
  }

  private async extend(requests: LeaseRequests, first: WindowAnswer): Promise<void> {
    const maxMs = Math.min(MAX_BACKOFF_MS, this.options.windowMs / 20);
    const isRetryable = (error: unknown): boolean => !isLost(error);
    this.accept(await this.attempt(() => requests.extend(first), { firstMs: 100, maxMs, isRetryable }), requests);
    this.announce();
  }

  /** @throws LeafError `LEAF_LAYOUT_MISMATCH` */
  private accept({ layout, workerId, from, until, now: serverNow }: WindowAnswer, { lease }: LeaseRequests): void {
    const { clock, stepLog } = this.context;
    stepLog?.add({ kind: 'window', worker: workerId, lease: leaseStep(leaseText(lease, from)), from, until });
    this.layout ??= layout;
    if (layout.fingerprint !== this.layout.fingerprint) throw mismatch(this.layout, layout);
    // By the clock that reaches the end first; but not again and again if the own one is far ahead.
    const left = Math.min(until - serverNow, until - clock.now());
    const shortest = this.options.windowMs * SHORTEST_SHARE;
    const restMs = Math.max(shortest, left / 2);
    this.ceiling = until;
    this.renewAfter = clock.now() + restMs;
    this.renewableAt = clock.monotonic() + shortest;
    this.extendAt = clock.monotonic() + restMs;
  }

  /** Retries `request`, and counts its failures. */
  private async attempt(
    request: () => Promise<WindowAnswer>,
    options: BackoffOptions & { readonly isRetryable: (error: unknown) => boolean },
  ): Promise<WindowAnswer> {
    const { clock, random, closing, events } = this.context;
    const startedAt = clock.monotonic();
    const once = async (): Promise<WindowAnswer> => {
      try {
        return await request();
      } catch (error) {
        if (this.record.failed(error) && !closing.aborted) events.onWindowFailed(error);
        throw error;
      }
    };
    const answer = await retry(once, { ...options, attempts: Infinity, signal: closing }, clock, random);
    this.record.answered();
    this.record.loaded(clock.monotonic() - startedAt);
    return answer;
  }

  /** Resolves when half of the window has passed or {@link renew} is called; with false when the client closes. */
  private async untilHalf(): Promise<boolean> {
    const { clock } = this.context;
    if (this.isFinal) return false;
    this.nap = new AbortController();
    await clock.sleep(this.extendAt - clock.monotonic(), this.nap.signal);
    this.nap = undefined;
    return !this.isFinal;
  }

  /** Unix milliseconds of the newest ID under this lease, or those before its window. */
  private lastUsed(): number {
    if (this.held === undefined) return 0;
    const { answer, floor } = this.held;
    const newest = this.newest();
    return newest > floor ? newest : answer.from - 1;
  }

  private lose(error: unknown): void {
    const { held } = this;
    this.held = undefined;
    this.requests = undefined;
    if (held === undefined) return;
    const { workerId } = held.answer;
    this.end(
      new LeafError(
        'LEAF_NOT_READY',
        `This client no longer holds worker ${workerId}: its window has ended, its lease was released, or a copy of this process has extended the window. It acquires another worker ID.`,
        { cause: error, retryAfterMs: 1000 },
      ),
    );
    this.context.events.onWindowLost(workerId, error);
  }

  private refuse(error: unknown): void {
    this.isFinal ||= isLeafError(error, 'LEAF_LAYOUT_MISMATCH');
    const refusal = asRefusal('snowflake', error);
    this.refused.keep(refusal);
    this.end(refusal);
  }

  private end(refusal: LeafError): void {
    this.term = undefined;
    this.refusal = refusal;
    this.announce();
  }

  private announce(): void {
    this.notify?.();
    this.changed = new Promise((resolve) => (this.notify = resolve));
  }
}

interface HeldWindow {
  /** The answer that gave it. */
  readonly answer: WindowAnswer;
  readonly floor: number;
}

function notYet(): LeafError {
  return new LeafError(
    'LEAF_NOT_READY',
    'This client has no worker ID yet. Await snowflakes(1), which waits for the servers; or preload snowflake IDs and await ready().',
    { retryAfterMs: 1000 },
  );
}

/** Whether the lease has no worker ID any more. */
function isLost(error: unknown): boolean {
  return isLeafError(error, 'LEAF_LEASE_LOST') || isLeafError(error, 'LEAF_LEASE_NOT_FOUND');
}

function mismatch(expected: BitLayout, answered: BitLayout): LeafError {
  return new LeafError(
    'LEAF_LAYOUT_MISMATCH',
    `The servers use the bit layout ${answered.fingerprint}, and this client ${expected.fingerprint}. IDs of both can be equal, so this client issues no more snowflake IDs. Correct its option layout, or restart it after a change of the servers.`,
  );
}
