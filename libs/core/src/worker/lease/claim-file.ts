import type { ClaimContext } from '../registry/worker-errors';
import { formatInstance } from '../records/instance';
import type { LeaseHolder } from '../records/lease-holder';
import type { RegistryHistory } from '../registry/registry-memory';
import { type FileRecord, withAttempt } from '../records/worker-file';

/** What the worker file records of a claim. */
export interface ClaimState {
  readonly workerId: number;
  readonly ceiling: number;
  readonly registry: RegistryHistory;
  /** Number of the latest confirmed write, 0 before the first. */
  readonly confirmed: number;
  /** The worker file that this server started from. */
  readonly before: FileRecord | undefined;
  readonly state: FileRecord['state'];
}

/** The content of the worker file. Until the registry confirms a claim, it has the lease of the file before. */
export function fileRecordOf(
  { description, layout }: ClaimContext,
  { instance, leaseId, attempted }: LeaseHolder,
  { workerId, ceiling, registry, confirmed, before, state }: ClaimState,
): FileRecord {
  const known = {
    ...{ instance: formatInstance(instance), registry: description, layout, workerId, ceiling, state },
    ...{ registryId: registry.id, generation: registry.generation, origin: registry.origin, began: registry.began },
  };
  if (confirmed === 0 && before !== undefined) {
    return { ...before, ...known, attempt: withAttempt(before.attempt, leaseId) };
  }
  return { ...known, leaseId, write: confirmed, attempted, attempt: undefined };
}
