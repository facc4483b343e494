import { BitLayout, type BitLayoutOptions, type Clock } from '@leaf-ids/core';
import { asObject, wrong } from '../http/answers';
import type { Requester } from '../http/requester';
import { RequestPolicy } from '../servers/request-policy';
import type { ResolvedWindow } from './window-options';

const PATH = '/api/workers';

/** The requests under one lease. Each can be repeated: the server then returns the same window. */
export class LeaseRequests {
  private readonly policy: RequestPolicy;

  /** @param lease 32 hexadecimal digits, a secret */
  constructor(
    private readonly lease: string,
    private readonly requester: Pick<Requester, 'send'>,
    private readonly options: ResolvedWindow,
    clock: Clock,
  ) {
    // One server while it responds: it registers the window again if the registry loses its history.
    this.policy = new RequestPolicy(lease, clock);
  }

  /** @throws LeafError the refusal of the servers, or `LEAF_SERVERS_UNAVAILABLE`, as all of these methods */
  acquire(): Promise<WindowAnswer> {
    const { lease, options } = this;
    const body = { lease, holder: options.holder, windowMs: options.windowMs };
    return this.send('POST', PATH, body, (answer) => readWindow(answer, lease));
  }

  extend({ workerId, from }: WindowAnswer): Promise<WindowAnswer> {
    const { lease } = this;
    return this.send('PUT', `${PATH}/${lease}`, { windowMs: this.options.windowMs, workerId }, (answer) => {
      const window = readWindow(answer, lease);
      if (window.workerId === workerId && window.from === from) return window;
      throw wrong('it is not the window that was to be extended');
    });
  }

  /** @param lastTimestamp Unix milliseconds of the newest ID; at most `from - 1` if there is none */
  release(lastTimestamp: number): Promise<void> {
    return this.send('DELETE', `${PATH}/${this.lease}`, { lastTimestamp }, () => undefined);
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
