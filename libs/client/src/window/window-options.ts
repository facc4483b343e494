import { hostname } from 'node:os';
import { HOLDER_PATTERN, oneOf, rule, type Rules, WINDOW_MS, whole, withDefaults } from '@leaf-ids/core/internal';
import { type ClientToken, tokenRule } from '../http/client-token';

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
