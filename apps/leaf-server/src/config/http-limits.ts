/** What HTTP takes in, and how long it may take. */
export interface HttpLimits extends AdmissionLimits {
  readonly maxConnections: number;
  /** Whether another process accepts the connections and deals them out to several. */
  readonly dealt: boolean;
  /** How long a request may wait for what it asks for. */
  readonly waitMs: number;
}

export interface AdmissionLimits {
  /** Most requests that wait or are being answered at once. */
  readonly maxInFlight: number;
  /** Under overload, a request that waited longer for its turn is refused. */
  readonly maxLagMs: number;
}
