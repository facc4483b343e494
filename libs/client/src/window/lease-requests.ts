import { createHash, randomBytes } from 'node:crypto';
import { BitLayout, type BitLayoutOptions, type Clock, isLeafError, type RandomSource } from '@leaf-ids/core';
import { MARKS, type WindowProgress } from '@leaf-ids/core/internal';
import { asObject, wrong } from '../http/answers';
import type { Requester } from '../http/requester';
import { RequestPolicy } from '../servers/server-choice';
import type { ResolvedWindow } from './window-options';

const PATH = '/api/workers';

/**
 * A secret: who knows it can release the worker ID. Copies of a process may draw the same random bytes, because the
 * state of the generator is in their memory: the time tells them apart.
 */
export function newLease(clock: Clock, random: (bytes: number) => Buffer = randomBytes): string {
  const time = `${clock.now()} ${clock.monotonic()}`;
  return createHash('sha256').update(random(16)).update(time).digest('hex').slice(0, 32);
}

/** The requests under one lease. Each can be repeated: the server then returns the same window. */
export class LeaseRequests {
  private readonly policy: RequestPolicy;
  /** Undefined before the first answer, and after a server of an earlier version has refused it, until the next one. */
  private progress: WindowProgress | undefined;

  /** @param lease 32 hexadecimal digits, a secret */
  constructor(
    readonly lease: string,
    private readonly requester: Pick<Requester, 'send'>,
    private readonly options: ResolvedWindow,
    private readonly random: RandomSource,
    private readonly clock: Clock,
  ) {
    // One server while it responds: it registers the window again if the registry loses its history.
    this.policy = new RequestPolicy(lease, clock);
  }

  /** @throws LeafError the refusal of the servers, or `LEAF_SERVERS_UNAVAILABLE`, as all of these methods */
  async acquire(): Promise<WindowAnswer> {
    const { lease, options } = this;
    const body = { lease, holder: options.holder, windowMs: options.windowMs };
    const window = await this.send('POST', PATH, body, (answer) => readWindow(answer, lease));
    this.progress = { known: window.until };
    return window;
  }

  async extend({ workerId, from }: WindowAnswer): Promise<WindowAnswer> {
    const { lease } = this;
    if (this.progress !== undefined) {
      const { known, mark = this.newMark() } = this.progress;
      this.progress = { known, mark };
    }
    const body = { windowMs: this.options.windowMs, workerId };
    const window = await this.tell('PUT', `${PATH}/${lease}`, body, (answer) => {
      const extended = readWindow(answer, lease);
      if (extended.workerId === workerId && extended.from === from) return extended;
      throw wrong('it is not the window that was to be extended');
    });
    this.progress = { known: window.until };
    return window;
  }

  /** @param lastTimestamp Unix milliseconds of the newest ID; at most `from - 1` if there is none */
  release(lastTimestamp: number): Promise<void> {
    return this.tell('DELETE', `${PATH}/${this.lease}`, { lastTimestamp }, () => undefined);
  }

  /** As {@link newLease}: copies of a process draw the same numbers, but not within the same 100 ns. */
  private newMark(): number {
    return (this.random(MARKS) + Math.floor(this.clock.monotonic() * 10_000)) % MARKS;
  }

  /** Sends the progress with `body`, which a server of an earlier version refuses. */
  private async tell<T>(method: 'PUT' | 'DELETE', path: string, body: object, read: (body: unknown) => T): Promise<T> {
    try {
      return await this.send(method, path, { ...body, ...this.progress }, read);
    } catch (error) {
      if (this.progress === undefined || !isLeafError(error, 'LEAF_BODY_INVALID')) throw error;
      this.progress = undefined;
      return this.send(method, path, body, read);
    }
  }

  private send<T>(
    method: 'POST' | 'PUT' | 'DELETE',
    path: string,
    body: object,
    read: (body: unknown) => T,
  ): Promise<T> {
    return this.requester.send(this.policy, { method, path, body, token: this.options.token }, read);
  }
}

/** The right to issue IDs as one worker with timestamps from `from` to `until`. */
export interface WindowAnswer {
  readonly workerId: number;
  /** Unix milliseconds, as `until` and `now`. */
  readonly from: number;
  readonly until: number;
  /** The clock of the server. */
  readonly now: number;
  readonly layout: BitLayout;
}

/**
 * Parses the window of a response.
 *
 * @throws ServerFault unless it belongs to `lease` and is complete
 */
function readWindow(body: unknown, lease: string): WindowAnswer {
  const { lease: answered, workerId, from, until, now, layout: bits } = asObject(body);
  if (answered !== lease) throw wrong('its window belongs to another lease');
  if (!isWhole(workerId) || !isWhole(from) || !isWhole(until) || !isWhole(now)) {
    throw wrong('its window lacks a number');
  }
  const layout = readLayout(asObject(bits));
  if (workerId > layout.maxWorkerId) throw wrong(`worker ID ${workerId} does not fit the layout`);
  return { workerId, from, until, now, layout };
}

function readLayout(bits: object): BitLayout {
  try {
    return new BitLayout(bits as BitLayoutOptions);
  } catch {
    throw wrong('its layout is invalid');
  }
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
