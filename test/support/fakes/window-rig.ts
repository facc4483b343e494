import { type BitLayout, DEFAULT_LAYOUT, LeafError, type RandomSource, type SnowflakeParts } from '@leaf-ids/core';
import { defaultLayout } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import type { HttpRequest } from '../../../libs/client/src/http/http-connection';
import { CallerLimit } from '../../../libs/client/src/prefetch/prefetch-context';
import { WindowSnowflakes } from '../../../libs/client/src/window/window-snowflakes';

export const WINDOW_MS = 60_000;
/** When a window is extended. */
export const HALF = WINDOW_MS / 2;
export const LOST = new LeafError('LEAF_LEASE_LOST', 'It belongs to another holder.', { status: 409 });

/** An error with this code. */
export function coded(code: string): Error {
  return expect.objectContaining({ code }) as Error;
}

export interface WindowRequest {
  readonly method: string;
  readonly lease: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Unix milliseconds. */
  readonly at: number;
}

/** The client's side of worker windows, with answers that a test sets and a manual clock. */
export class WindowRig {
  readonly clock = new FakeClock();
  readonly requests: WindowRequest[] = [];
  readonly log: string[] = [];
  readonly ids: WindowSnowflakes;
  workerId = 17;
  from: number;
  layout = DEFAULT_LAYOUT;
  /** Thrown in place of answers. */
  failure: Error | undefined;
  /** Replaces the answer. */
  answer: (request: WindowRequest) => object | undefined = (request) => this.sound(request);
  private readonly closing = new AbortController();
  private leases = 0;

  constructor(expected?: BitLayout, random: RandomSource = () => 0) {
    this.from = this.clock.now() - 1000;
    const { clock } = this;
    this.ids = new WindowSnowflakes(
      {
        requester: { send: (_policy, request, read) => this.send(request, read) },
        ...{ clock, random, callerLimit: new CallerLimit(100), timeoutMs: 1000, closing: this.closing.signal },
        events: {
          onWindowAcquired: (workerId) => this.log.push(`acquired ${workerId}`),
          onWindowLost: (workerId) => this.log.push(`lost ${workerId}`),
          onWindowFailed: (error) => this.log.push(`failed: ${String(error)}`),
        },
        newLease: () => String(++this.leases).padStart(32, '0'),
      },
      { holder: 'billing', windowMs: WINDOW_MS },
      expected,
    );
  }

  static outage(): LeafError {
    return new LeafError('LEAF_SERVERS_UNAVAILABLE', 'All are down.', { retryAfterMs: 1000 });
  }

  /** Starts the acquisition and waits for its answer. */
  async open(): Promise<this> {
    this.ids.tryNext();
    await this.clock.advance(0);
    return this;
  }

  /** As LeafClient.close. */
  async close(): Promise<void> {
    this.ids.close(new LeafError('LEAF_NOT_READY', 'closed'));
    this.closing.abort();
    const released = this.ids.release();
    await this.clock.advance(5000);
    await released;
  }

  /** Refuses the requests of this method. */
  refuse(method: string, error: Error): void {
    this.answer = (request) => {
      if (request.method === method) throw error;
      return this.sound(request);
    };
  }

  /** As {@link close}, whatever the test has done: nothing may go on. */
  async end(): Promise<void> {
    this.failure = undefined;
    await this.close();
    expect(this.clock.sleeping).toBe(0);
  }

  /** Issues the next ID, and takes it apart. */
  issued(): SnowflakeParts {
    return defaultLayout().decompose(this.ids.nextBigint());
  }

  /** Method and lease of each request. */
  get asked(): string[] {
    return this.requests.map(({ method, lease }) => `${method} ${Number(lease)}`);
  }

  sound({ lease }: WindowRequest): object {
    const { workerId, from, layout, clock } = this;
    return { workerId, lease, from, until: clock.now() + WINDOW_MS, now: clock.now(), layout };
  }

  private async send<T>({ method = 'GET', path, body = {} }: HttpRequest, read: (body: unknown) => T): Promise<T> {
    const fields = body as Readonly<Record<string, unknown>>;
    const lease = method === 'POST' ? String(fields.lease) : path.replace(/^.*\//, '');
    const request = { method, lease, body: fields, at: this.clock.now() };
    this.requests.push(request);
    await Promise.resolve();
    if (this.failure !== undefined) throw this.failure;
    return read(method === 'DELETE' ? undefined : this.answer(request));
  }
}
