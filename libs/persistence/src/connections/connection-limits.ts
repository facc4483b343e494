export interface ConnectionLimits {
  /** How long connecting may take, in milliseconds. */
  readonly connectMs: number;
  /** How long a statement may take, its wait for a connection included, in milliseconds. */
  readonly queryMs: number;
  /** How long closing may take, in milliseconds: a pool waits for ever for a statement that is never answered. */
  readonly closeMs: number;
  /** Connections at most; SQLite has one. */
  readonly connections: number;
}

export const DEFAULT_LIMITS: ConnectionLimits = { connectMs: 2000, queryMs: 2000, closeMs: 2000, connections: 8 };
