import { type BackoffOptions, backoffMs, type Clock, type RandomSource, reasonOf } from '@leaf-ids/core';

export interface EjectionOptions extends BackoffOptions {
  /** So many failures in a row eject a server. */
  readonly failures: number;
}

export type ServerState = 'serving' | 'ejected' | 'probation';

export interface HealthEvents {
  readonly onEjected: (error: unknown, forMs: number) => void;
  readonly onReadmitted: () => void;
}

/**
 * Whether one server is to be asked.
 *
 * - *serving*: it is asked. A number of failures in a row leads to *ejected*.
 * - *ejected*: it is not asked, each time for longer. Once that is over: *probation*.
 * - *probation*: one request may try it. Success leads to *serving*, failure back to *ejected*.
 *
 * When no other server is left to ask, an ejected one may be tried before its time, now and then: after an outage of all
 * servers the first one that is back is soon found.
 */
export class ServerHealth {
  failuresInRow = 0;
  lastError: unknown;
  private ejections = 0;
  private ejectedUntil = 0;
  /** By the server's own wish. */
  private heldUntil = 0;
  private failedAt = 0;
  private probing = false;

  constructor(
    private readonly options: EjectionOptions,
    private readonly clock: Clock,
    private readonly random: RandomSource,
    private readonly events: HealthEvents,
  ) {}

  get state(): ServerState {
    if (this.ejections === 0) return 'serving';
    return this.clock.monotonic() < this.ejectedUntil ? 'ejected' : 'probation';
  }

  /** Whether one more request may be sent. */
  get admits(): boolean {
    const { state } = this;
    return state === 'serving' || (state === 'probation' && !this.probing);
  }

  /** Whether one more request may be sent, if no other server is left. */
  get admitsInNeed(): boolean {
    const now = this.clock.monotonic();
    return this.admits || (!this.probing && now >= this.heldUntil && now >= this.failedAt + this.options.firstMs);
  }

  /** A request goes out. */
  begin(): void {
    if (this.ejections > 0) this.probing = true;
  }

  /** It was answered: by an ID, or by a refusal that the server had a reason for. */
  succeeded(): void {
    const readmitted = this.ejections > 0;
    this.failuresInRow = 0;
    this.ejections = 0;
    this.probing = false;
    this.lastError = undefined;
    if (readmitted) this.events.onReadmitted();
  }

  /** @param retryAfterMs how long the server itself asked to be left alone, in milliseconds */
  failed(error: unknown, retryAfterMs: number | undefined): void {
    const now = this.clock.monotonic();
    // What was sent before the ejection and fails after it says nothing new.
    const late = this.state === 'ejected' && !this.probing;
    this.failuresInRow++;
    this.lastError = error;
    this.probing = false;
    this.failedAt = now;
    this.heldUntil = Math.max(this.heldUntil, now + (retryAfterMs ?? 0));
    if (late) return;
    if (this.ejections === 0 && this.failuresInRow < this.options.failures && retryAfterMs === undefined) return;
    this.ejections++;
    const forMs = Math.max(backoffMs(this.ejections, this.options, this.random), retryAfterMs ?? 0);
    this.ejectedUntil = now + forMs;
    this.events.onEjected(error, forMs);
  }

  /** A request ended without saying anything about the server. */
  abandoned(): void {
    this.probing = false;
  }

  get lastErrorText(): string | undefined {
    return this.lastError === undefined ? undefined : reasonOf(this.lastError);
  }
}
