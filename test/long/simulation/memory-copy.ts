import { BitLayout, Clock, WorkerStore } from '@leaf-ids/core';
import { PeriodicTask, WorkerFile, WorkerPolicy } from '@leaf-ids/core/internal';

/** What a copy has of its own, or shares because it never changes. */
const KEPT = [BitLayout, Clock, WorkerStore, WorkerFile, WorkerPolicy, PeriodicTask];
const KEPT_NATIVE = [Promise, Error, AbortController, AbortSignal];

/**
 * Copies the memory of objects to others of the same kind, as a snapshot of their process does: all that is reachable
 * from `pairs`, without the parts that connect a process with the outside, and with the functions of the target.
 *
 * @param pairs objects with their counterparts
 */
export function copyMemory(pairs: readonly (readonly [object, object])[]): void {
  const twins = new Map<object, unknown>();
  const fill = (from: object, to: object): void => {
    for (const [key, value] of Object.entries(from)) Reflect.set(to, key, twinOf(value, Reflect.get(to, key)));
  };
  const twinOf = (value: unknown, present: unknown): unknown => {
    if (typeof value === 'function') return present ?? value;
    if (typeof value !== 'object' || value === null) return value;
    if (twins.has(value)) return twins.get(value);
    if ([...KEPT, ...KEPT_NATIVE].some((kind) => value instanceof kind)) return present ?? value;
    if (ArrayBuffer.isView(value)) return structuredClone(value);
    const copy = emptyTwin(value, present);
    twins.set(value, copy);
    if (value instanceof Map && copy instanceof Map) {
      copy.clear();
      for (const [key, item] of value) copy.set(twinOf(key, undefined), twinOf(item, undefined));
    } else if (value instanceof Set && copy instanceof Set) {
      copy.clear();
      for (const item of value) copy.add(twinOf(item, undefined));
    } else {
      if (Array.isArray(copy)) copy.length = 0;
      fill(value, copy);
    }
    return copy;
  };
  for (const [from, to] of pairs) twins.set(from, to);
  for (const [from, to] of pairs) fill(from, to);
}

function emptyTwin(value: object, present: unknown): object {
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (typeof present === 'object' && present !== null && Object.getPrototypeOf(present) === prototype) return present;
  if (value instanceof Map) return new Map();
  if (value instanceof Set) return new Set();
  return Array.isArray(value) ? [] : (Object.create(prototype) as object);
}
