import type { ClusterServer, ClusterWorkers } from '../../monitor/views';

/** A server in the list of the page. */
export interface ShownServer extends Omit<ClusterServer, 'state'> {
  /** `expired`: the server is not asked, because it stopped renewing its lease. */
  readonly state: ClusterServer['state'] | 'expired';
  /** Time at which the lease expired, in Unix milliseconds. */
  readonly expiredAt?: number;
}

/** Time for which an expired lease is shown, in milliseconds. */
const SHOWN_MS = 3_600_000;
/** As `processInstance` of libs/core writes the instance of an additional process: `10.0.0.7#1:8080`. */
const ADDITIONAL_PROCESS = /#\d+\]?:\d+$/;

/**
 * Servers that ended or hang: the registry lists only servers with a lease, but keeps the records of the others. Those
 * that released their worker ID are left out.
 */
export function expiredServers(
  { workers, now }: ClusterWorkers,
  listed: readonly Pick<ClusterServer, 'instance'>[],
): ShownServer[] {
  const known = new Set(listed.map(({ instance }) => instance));
  const found: ShownServer[] = [];
  const newestFirst = [...workers].sort((a, b) => b.ceiling - a.ceiling);
  for (const { kind, state, holder, workerId, ceiling } of newestFirst) {
    if (kind !== 'server' || state !== 'expired' || ceiling < now - SHOWN_MS) continue;
    if (known.has(holder) || ADDITIONAL_PROCESS.test(holder)) continue;
    known.add(holder);
    found.push({ instance: holder, self: false, state: 'expired', workerId, expiredAt: ceiling });
  }
  return found;
}
