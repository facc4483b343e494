import { formatInstance, type SegmentStore, type WorkerRegistry } from '@leaf-ids/core';
import type { WorkerClaim } from '@leaf-ids/core/internal';
import type { LeafConfig } from '../config/leaf-config';
import type { Tracing } from './tracing';

/** The modes with spans around what they ask of the database and the worker registry. */
export function traced({ segment, snowflake }: LeafConfig['ids'], tracing: Tracing): LeafConfig['ids'] {
  return {
    ...(segment && { segment: { ...segment, wrapStore: (store: SegmentStore) => tracedStore(store, tracing) } }),
    ...(snowflake && {
      snowflake: { ...snowflake, wrapRegistry: (registry: WorkerRegistry) => tracedRegistry(registry, tracing) },
    }),
  };
}

function tracedStore(store: SegmentStore, tracing: Tracing): SegmentStore {
  const allocate: SegmentStore['allocate'] = (tag, size) =>
    tracing.span(
      'segment allocate',
      { 'leaf.tag': tag, 'leaf.database': store.description },
      () => store.allocate(tag, size),
      ({ from, to }) => ({ 'leaf.segment.size': Number(to - from) + 1 }),
    );
  const allocateAll: SegmentStore['allocateAll'] = (requests) =>
    tracing.span(
      'segment allocate',
      { 'leaf.tag': requests.map(({ tag }) => tag).join(','), 'leaf.database': store.description },
      () => store.allocateAll(requests),
    );
  return withMethods(store, { allocate, allocateAll });
}

function tracedRegistry(registry: WorkerRegistry, tracing: Tracing): WorkerRegistry {
  const where = { 'leaf.registry': registry.description };
  const worker = ({ workerId }: WorkerClaim): { 'leaf.worker_id': number } => ({ 'leaf.worker_id': workerId });
  const acquire: WorkerRegistry['acquire'] = async (holder, ...rest) => {
    const claim = await tracing.span(
      'worker acquire',
      { ...where, 'leaf.instance': formatInstance(holder.instance) },
      () => registry.acquire(holder, ...rest),
      worker,
    );
    const extend: WorkerClaim['extend'] = (...args) =>
      tracing.span('worker report', { ...where, ...worker(claim) }, () => claim.extend(...args));
    return withMethods(claim, { extend });
  };
  return withMethods(registry, { acquire });
}

/** `target`, with other methods in place of some of its own. */
function withMethods<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get: (_, name) => (Object.hasOwn(methods, name) ? Reflect.get(methods, name) : Reflect.get(target, name, target)),
  });
}
