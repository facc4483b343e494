import { LeafError } from '../errors/leaf-error';
import { noStandIn, untilPassed } from './file-start';
import type { ImportedWorker, ImportFile } from './import-file';
import { formatInstance } from './instance';
import { UNKNOWN_REGISTRY } from './registry-memory';
import { type AcquisitionContext, FOREIGN_WATCH_MS } from './worker-acquisition';
import { WorkerClaim } from './worker-claim';

/**
 * Starts as the worker of another program that ran at our address, while the registry cannot be reached and this server
 * has no worker file yet. The file of that program proves less than ours: it contains no registry, no address and no
 * lease, and that program reserves no time. Therefore
 *
 * - an operator must name the file, and so states that the program has ended and held this worker ID in the registry;
 * - this server issues only above the current time plus the allowed clock offset, and waits until that has passed. The
 *   file must not change meanwhile;
 * - the first ceiling is final until the registry confirms the worker ID: see {@link WorkerClaim};
 * - the result is in our own worker file before the first ID is issued, so there is no second import.
 *
 * @param error why the registry cannot be reached
 * @throws LeafError `LEAF_REGISTRY_UNREACHABLE` when the file cannot be used, `LEAF_WORKER_HELD`, `LEAF_CLOCK_BEHIND`
 */
export async function importWorker(
  context: AcquisitionContext,
  file: ImportFile,
  error: LeafError,
): Promise<WorkerClaim> {
  const { parts, options, claims, holder } = context;
  const read = async (): Promise<ImportedWorker> => {
    const found = await file.read(holder.instance);
    const problem = typeof found === 'string' ? found : unusable(found, file, context);
    if (typeof found === 'string' || problem !== undefined) throw noStandIn(error, file.path, problem ?? '');
    return found;
  };
  const { workerId, newest } = await read();
  const watchMs = Math.max(claims.clockOffsetMs, FOREIGN_WATCH_MS);
  const floor = Math.max(parts.clock.now(), newest) + watchMs;
  await untilPassed(context, floor, options.horizonMs + watchMs);
  const again = await read();
  if (again.workerId !== workerId || again.newest !== newest) {
    throw new LeafError(
      'LEAF_WORKER_HELD',
      `The worker file ${file.path} has changed while this server waited: a running server uses it as ${formatInstance(holder.instance)}. Stop that server, and restart this one.`,
    );
  }
  const claim = new WorkerClaim(claims, holder, {
    ...{ workerId, floor, before: undefined, stored: undefined, registry: UNKNOWN_REGISTRY },
    ceiling: Math.max(floor, parts.clock.now() + options.horizonMs),
  });
  claim.degradedReason = error.message;
  await claim.save();
  return claim;
}

function unusable({ workerId }: ImportedWorker, file: ImportFile, { options }: AcquisitionContext): string | undefined {
  if (file.layout !== options.layout) {
    return `its server used the layout ${file.layout}, this server uses ${options.layout}`;
  }
  if (workerId <= options.maxWorkerId) return undefined;
  return `its worker ID ${workerId} exceeds ${options.maxWorkerId}, the highest one of the layout`;
}
