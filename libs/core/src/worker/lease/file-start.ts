import { LeafError } from '../../errors/leaf-error';
import { type AcquisitionContext, clockBehind, reserved } from './worker-acquisition';
import { WorkerClaim } from './worker-claim';
import type { FileRecord } from '../records/worker-file';

/**
 * Starts from the worker file while the registry cannot be reached. The file proves that this server held the worker ID
 * when it ended, and how far ahead it had reserved time. This assumes that no other host uses the same `ip:port` in the
 * meantime.
 *
 * @param error why the registry cannot be reached
 * @returns undefined if it had to wait until the ceiling had passed: the registry may be reachable again, so ask it first
 * @throws LeafError `LEAF_REGISTRY_UNREACHABLE` when the file does not prove that, `LEAF_CLOCK_BEHIND`
 */
export async function startFromFile(context: AcquisitionContext, error: LeafError): Promise<WorkerClaim | undefined> {
  const { parts, options, claims, holder, found } = context;
  const problem = holder.disproved
    ? 'the registry has reported that the worker ID may belong to another server'
    : cannotStandIn(found, claims.description, options.layout);
  if (found === undefined || problem !== undefined) {
    throw noStandIn(error, parts.file?.path ?? '', problem ?? '');
  }
  const floor = Math.max(found.ceiling, holder.newest());
  if (await untilPassed(context, floor, options.leaseTtlMs)) return undefined;
  const { registryId: id, generation, origin, began } = found;
  const claim = new WorkerClaim(claims, holder, {
    ...{ workerId: found.workerId, floor, before: found, stored: undefined },
    ceiling: Math.max(floor, parts.clock.now() + options.leaseTtlMs),
    registry: { id, generation, origin, began },
  });
  claim.degradedReason = error.message;
  await claim.save();
  return claim;
}

/**
 * @returns whether it had to wait
 * @throws LeafError `LEAF_CLOCK_BEHIND` when `floor` is more than `longestMs` ahead of the clock
 */
async function untilPassed(
  { parts, claims, wait }: AcquisitionContext,
  floor: number,
  longestMs: number,
): Promise<boolean> {
  let waited = false;
  for (let left = floor - parts.clock.now(); left >= 0; left = floor - parts.clock.now()) {
    if (left > longestMs) throw clockBehind(claims.description, floor, left, longestMs);
    waited = true;
    await wait(left + 1, reserved(claims.description, left));
  }
  return waited;
}

/** The error of a start without the registry, when the file at `path` cannot replace it. */
function noStandIn(error: LeafError, path: string, problem: string): LeafError {
  return new LeafError(
    'LEAF_REGISTRY_UNREACHABLE',
    `${error.message} This server cannot start from the worker file ${path} instead: ${problem}. Make the registry reachable, and restart this server.`,
    { cause: error, retryAfterMs: 1000 },
  );
}

function cannotStandIn(record: FileRecord | undefined, registry: string, layout: string): string | undefined {
  if (record === undefined) return 'it does not exist';
  if (record.registry !== registry) return `it belongs to the registry ${record.registry}`;
  if (record.registryId === '') return 'it has no registry ID, because an earlier version of Leaf wrote it';
  if (record.layout !== layout) return `it records the layout ${record.layout}, this server uses ${layout}`;
  if (record.state === 'released') return 'this server released the worker ID at its last stop';
  if (record.state === 'lost') return 'the worker ID may now belong to another server';
  return undefined;
}
