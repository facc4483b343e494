import type { HttpConnection } from '../http/http-connection';
import type { ServerHealth, ServerState } from './server-health';

export interface ServerView {
  readonly url: string;
  readonly zone: string | undefined;
  readonly state: ServerState;
  /** Requests in progress. */
  readonly outstanding: number;
  readonly requests: number;
  readonly failures: number;
  readonly failuresInRow: number;
  /** The last error, until the next success. */
  readonly lastError: string | undefined;
}

/** One server with its zone, its health and its counters. */
export class Server {
  outstanding = 0;
  requests = 0;
  failures = 0;

  constructor(
    readonly url: string,
    readonly zone: string | undefined,
    readonly health: ServerHealth,
    readonly connection: HttpConnection,
  ) {}

  snapshot(): ServerView {
    const { url, zone, outstanding, requests, failures, health } = this;
    const { state, failuresInRow, lastErrorText: lastError } = health;
    return { url, zone, state, outstanding, requests, failures, failuresInRow, lastError };
  }
}
