export interface ConnectionLimits {
  /** Limit for connecting, in milliseconds. */
  readonly connectMs: number;
  /** Limit for a statement, including its wait for a connection, in milliseconds. */
  readonly queryMs: number;
  /** Limit for closing, in milliseconds: a pool waits indefinitely for a statement that gets no response. */
  readonly closeMs: number;
  /** Maximum number of connections; SQLite uses one. */
  readonly connections: number;
}

export const DEFAULT_LIMITS: ConnectionLimits = { connectMs: 2000, queryMs: 2000, closeMs: 2000, connections: 8 };
