import type { LeaseHolder } from './lease-holder';
import { attemptsOf, type FileRecord } from './worker-file';
import type { Peer, StoredWorker, WorkerRecord } from './worker-store';
import { formatInstance } from './instance';
import { windowOf } from './window-holder';

/** Time after its latest report for which a Java server counts as running, in milliseconds: ten reports. */
const JAVA_LIVE_MS = 30_000;

/**
 * Whether the holder of a record may still use it. Java servers write no lease, and the current time every 3 s instead
 * of a ceiling. `now` is in Unix milliseconds.
 */
function isInUse({ free, leaseId, ceiling }: WorkerRecord, now: number): boolean {
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

/**
 * What a server finds when it reads the record of its worker ID: *ours*; *behind*: ours, but older than a confirmed
 * write; *gone*; or *another's*.
 */
export type Relation = 'ours' | 'behind' | 'gone' | 'another';

/** What a holder knows about its latest write. */
interface LatestWrite {
  /** Number of the latest confirmed write, 0 before the first. */
  readonly confirmed: number;
  /** The ceiling of that write. */
  readonly confirmedCeiling: number | undefined;
  /** The worker file that this server started from. */
  readonly before: FileRecord | undefined;
}

/** A record contains the lease ID of its holder and the number of the write, which distinguish the cases. */
export function relationOf(
  record: WorkerRecord | undefined,
  holder: LeaseHolder,
  { confirmed, confirmedCeiling, before }: LatestWrite,
): Relation {
  if (record === undefined) return 'gone';
  const { leaseId, write, ceiling } = record;
  if (leaseId === holder.leaseId) {
    if (write < confirmed) return 'behind';
    // Several servers write a shared lease. R13: under our own, others write, too: the Java service the time, in a table,
    // and a copy of this process.
    if (holder.shared) return 'ours';
    const isOurs = write === confirmed ? ceiling === confirmedCeiling : holder.sentAs(record) !== undefined;
    return isOurs ? 'ours' : 'another';
  }
  if (confirmed > 0 || before === undefined || leaseId === undefined) return 'another';
  if (attemptsOf(before.attempt).includes(leaseId)) return 'ours';
  // A process that died during a report may have sent more writes than its file records: at most two, if no other
  // server writes.
  if (leaseId !== before.leaseId || write > before.attempted + 2) return 'another';
  return write >= before.write ? 'ours' : 'behind';
}
