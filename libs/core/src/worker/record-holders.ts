import { formatInstance } from './instance';
import { windowOf } from './window-holder';
import type { Peer, StoredWorker, WorkerRecord } from './worker-store';

/** Time after its latest report for which a Java server counts as running, in milliseconds: ten reports. */
export const JAVA_LIVE_MS = 30_000;

/**
 * Whether the holder of a record may still use it. Java servers write no lease, and the current time every 3 s instead
 * of a ceiling. `now` is in Unix milliseconds.
 */
export function isInUse({ free, leaseId, ceiling }: WorkerRecord, now: number): boolean {
  return !free && (leaseId === undefined ? ceiling + JAVA_LIVE_MS : ceiling) > now;
}

/**
 * Whether a timestamp up to `now` may still be used under this record, by a holder whose clock is behind ours by up to
 * `clockOffsetMs`. The ceiling of a released record counts, too: its holder may have used all of that time. Times are
 * Unix milliseconds.
 */
export function mayBeUsed(record: WorkerRecord, now: number, clockOffsetMs: number): boolean {
  return record.free ? record.ceiling >= now : isInUse(record, now - clockOffsetMs - 1);
}

/** The servers that hold a worker ID of these records; windows are not servers. `now` is in Unix milliseconds. */
export function holdersOf(records: readonly StoredWorker[], now: number): Peer[] {
  const held = records.filter(({ record }) => isInUse(record, now) && windowOf(record) === undefined);
  return held.map(({ workerId, record }) => ({ instance: formatInstance(record.instance), workerId }));
}
