import type { Clock } from '@leaf-ids/core';
import { wrong } from '../http/answers';
import type { Requester } from '../http/requester';
import { RequestPolicy } from '../servers/request-policy';
import { readWindow, type WindowAnswer } from './window-answer';
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
