import type { Clock, RandomSource } from '@leaf-ids/core';
import { backoffMs, type BackoffOptions, reasonOf } from '@leaf-ids/core/internal';

/** A fault of a server: no response, or an invalid one. */
export class ServerFault extends Error {
  override readonly name = 'ServerFault';

  constructor(
    message: string,
    /** `Retry-After` of the server, in milliseconds. */
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export interface EjectionOptions extends BackoffOptions {
  /** Number of consecutive failures that eject a server. */
  readonly failures: number;
}

export type ServerState = 'serving' | 'ejected' | 'probation';

interface HealthEvents {
  readonly onEjected: (error: unknown, forMs: number) => void;
  readonly onReadmitted: () => void;
}

/**
 * Whether one server may get requests.
 *
 * - *serving*: it gets requests. Consecutive failures lead to *ejected*.
 * - *ejected*: it gets no requests, for longer each time. When the time is over, it enters *probation*.
 * - *probation*: it gets one request. Success leads to *serving*, failure back to *ejected*.
 *
 * When no other server is left, an ejected one occasionally gets a request early, so that the client recovers soon
 * after an outage of all servers.
 */
export class ServerHealth {
  failuresInRow = 0;
  lastError: unknown;
  private ejections = 0;
  private ejectedUntil = 0;
  /** End of the pause that `Retry-After` of the server requests. */
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

  /** Whether one more request may be sent when no other server is left. */
  get admitsInNeed(): boolean {
    const now = this.clock.monotonic();
    return this.admits || (!this.probing && now >= this.heldUntil && now >= this.failedAt + this.options.firstMs);
  }

  /** Call before a request. */
  begin(): void {
    if (this.ejections > 0) this.probing = true;
  }

  /** Call after a response with IDs or with a valid refusal. */
  succeeded(): void {
    const readmitted = this.ejections > 0;
    this.failuresInRow = 0;
    this.ejections = 0;
    this.probing = false;
    this.lastError = undefined;
    if (readmitted) this.events.onReadmitted();
  }

  /** @param retryAfterMs `Retry-After` of the server, in milliseconds */
  failed(error: unknown, retryAfterMs: number | undefined): void {
    const now = this.clock.monotonic();
    // The failure of a request that was sent before the ejection is no new information.
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

  /** Call after a request that ended without information about the server. */
  abandoned(): void {
    this.probing = false;
  }

  get lastErrorText(): string | undefined {
    return this.lastError === undefined ? undefined : reasonOf(this.lastError);
  }
}
