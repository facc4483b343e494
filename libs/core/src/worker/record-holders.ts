import { formatInstance } from './instance';
import { windowOf } from './window-holder';
import type { Peer, StoredWorker, WorkerRecord } from './worker-store';

/** Ten reports of a Java server, in milliseconds. */
export const JAVA_LIVE_MS = 30_000;

/**
 * Whether the holder of a record may still use it. Java servers write no lease, and the current time every 3 s instead
 * of a ceiling. `now` is in Unix milliseconds.
 */
export function isInUse({ free, leaseId, ceiling }: WorkerRecord, now: number): boolean {
  return !free && (leaseId === undefined ? ceiling + JAVA_LIVE_MS : ceiling) > now;
}

/** The servers that hold a worker ID of these records; windows are not servers. `now` is in Unix milliseconds. */
export function holdersOf(records: readonly StoredWorker[], now: number): Peer[] {
  const held = records.filter(({ record }) => isInUse(record, now) && windowOf(record) === undefined);
  return held.map(({ workerId, record }) => ({ instance: formatInstance(record.instance), workerId }));
}
