export type OrderName = 'drain' | 'undrain' | 'pause-tag' | 'resume-tag';

/** The body of `POST /api/cluster/orders`. */
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
