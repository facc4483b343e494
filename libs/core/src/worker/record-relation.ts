import type { LeaseHolder } from './lease-holder';
import { attemptsOf, type FileRecord } from './worker-file';
import type { WorkerRecord } from './worker-store';

/**
 * What a server finds when it reads the record of its worker ID: *ours*; *behind*: ours, but older than a confirmed
 * write; *gone*; or *another's*.
 */
export type Relation = 'ours' | 'behind' | 'gone' | 'another';

/** What a holder knows about its latest write. */
export interface LatestWrite {
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
