/** Limits of HTTP: sizes and times. */
export interface HttpLimits extends AdmissionLimits {
  readonly maxConnections: number;
  /** How long a request may wait for its IDs. */
  readonly waitMs: number;
  /** An idle connection is closed after this time. */
  readonly keepAliveMs: number;
  /** Addresses of proxies whose `X-Forwarded-For` is believed, each with or without a prefix length. */
  readonly trustedProxies: readonly string[];
  /** Whether the routes of the Java service take the paths that it took. Undefined: nobody decided, and they do not. */
  readonly javaPaths: boolean | undefined;
}

export interface AdmissionLimits {
  /** ID requests that wait or are being answered at once. */
  readonly maxInFlight: number;
  /** Under overload, the longest wait of a request for its turn, in milliseconds. */
  readonly maxLagMs: number;
}
