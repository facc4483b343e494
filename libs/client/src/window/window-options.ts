import { hostname } from 'node:os';
import {
  HOLDER_PATTERN,
  oneOf,
  rule,
  type Rules,
  type StepLog,
  whole,
  WINDOW_MS,
  withDefaults,
} from '@leaf-ids/core/internal';
import { type ClientToken, tokenRule } from '../http/http-connection';
import type { Requester } from '../http/requester';
import type { PrefetchContext } from '../prefetch/prefetch-context';

/** Snowflake IDs of the client's own, under a worker ID that it holds for a window of time: docs/worker-windows.md. */
export interface SnowflakeWindowOptions {
  readonly mode: 'window';
  /** Token of `LEAF_WORKER_TOKENS`; the token of the client by default. A function is called for each request. */
  readonly token?: ClientToken;
  /** Name of this process, for people, 1 to 127 printable characters; the host name by default. */
  readonly holder?: string;
  /**
   * How long IDs can be issued without the servers, in milliseconds; 60,000 by default. The client extends the window
   * when half of it has passed. If the process crashes, the worker ID is unusable for this time.
   */
  readonly windowMs?: number;
}

export interface ResolvedWindow {
  readonly holder: string;
  readonly windowMs: number;
  readonly token?: ClientToken;
}

export const MODE_RULE = oneOf('fetch', 'window');

export const WINDOW_RULES: Rules<SnowflakeWindowOptions> = {
  mode: MODE_RULE,
  token: tokenRule,
  holder: rule('1 to 127 printable characters', (value) => typeof value === 'string' && HOLDER_PATTERN.test(value)),
  windowMs: whole(WINDOW_MS.least, WINDOW_MS.most),
};

export function resolveWindow(options: SnowflakeWindowOptions): ResolvedWindow {
  return withDefaults({ holder: hostname() || 'leaf-client', windowMs: WINDOW_MS.default }, options);
}

export interface WindowEvents {
  /** The client holds a worker ID, and may issue IDs up to `until` (Unix milliseconds). */
  readonly onWindowAcquired: (workerId: number, until: number) => void;
  /**
   * The worker ID belongs to another holder, or to a copy of this process: `error` tells. The client acquires another one.
   */
  readonly onWindowLost: (workerId: number, error: unknown) => void;
  /** A request for a worker ID failed: called for the first failure of a series and every 100th. */
  readonly onWindowFailed: (error: unknown) => void;
}

/** The dependencies of a window. */
export interface WindowContext extends Omit<PrefetchContext, 'requester' | 'events'> {
  readonly requester: Pick<Requester, 'send'>;
  readonly events: WindowEvents;
  /** 32 random hexadecimal digits that cannot be guessed. */
  readonly newLease: () => string;
  readonly stepLog?: StepLog;
}
