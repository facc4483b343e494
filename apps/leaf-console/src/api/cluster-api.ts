/** Answers of `/api/cluster`. */
export type ServerState = 'ready' | 'degraded' | 'starting' | 'down' | 'draining' | 'silent' | 'refused' | 'unasked';

export interface UsedTag {
  readonly tag: string;
  readonly idsPerSecond: number;
  readonly shard?: string;
}

export interface ClusterServer {
  readonly instance: string;
  readonly self: boolean;
  readonly state: ServerState;
  readonly reason?: string;
  readonly answeredInMs?: number;
  readonly lastAnsweredAt?: number;
  readonly workerId?: number;
  readonly version?: string;
  readonly startedAt?: number;
  readonly idsPerSecond?: { readonly segment: number; readonly snowflake: number };
  readonly errorsPerSecond?: number;
  readonly snowflake?: {
    readonly registry: string;
    readonly workerId: number;
    readonly ceiling: number;
    readonly lastReportAt: number | null;
    readonly clockOffsetMs: number | null;
  };
  readonly tags?: { readonly count: number; readonly used: readonly UsedTag[] };
  readonly lastError?: { readonly at: number; readonly code: string; readonly message: string };
}

export interface ClusterAnswer {
  /** Whether the cluster token is set, so that other servers are asked. */
  readonly asked: boolean;
  readonly now: number;
  readonly servers: readonly ClusterServer[];
}

export interface WorkerRecord {
  readonly workerId: number;
  readonly kind: 'server' | 'window';
  readonly holder: string;
  readonly state: 'held' | 'expired' | 'released';
  readonly ceiling: number;
}

export interface WorkersAnswer {
  readonly workerIds: number;
  readonly now: number;
  readonly workers: readonly WorkerRecord[];
}

export type OrderName = 'drain' | 'undrain' | 'pause-tag' | 'resume-tag';

export interface ClusterOrder {
  readonly order: OrderName;
  readonly tag?: string;
  /** Instances; absent for all servers. */
  readonly servers?: readonly string[];
  readonly confirm?: string;
}

export interface OrderResult {
  readonly instance: string;
  readonly done: boolean;
  readonly reason?: string;
}
