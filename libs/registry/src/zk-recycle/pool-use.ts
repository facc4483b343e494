import { LeafError } from '@leaf/core';
import { isKnown, isTakeable } from './candidates';
import type { PoolEntry, WorkerPool } from './worker-pool';

/** How many workers cannot be taken now. */
export function countUsed(entries: readonly PoolEntry[], now: number): number {
  return entries.filter((entry) => !isKnown(entry) || !isTakeable(entry, now)).length;
}

/** What is in the way when no worker can be taken. */
export function usedUp(description: string, pool: WorkerPool, entries: readonly PoolEntry[]): LeafError {
  const known = entries.filter(isKnown);
  const unreadable = entries.filter((entry) => !isKnown(entry));
  const ceilingsOf = (state: string): number[] =>
    known.filter(({ record }) => record.state === state).map(({ record }) => record.ceiling);
  const [held, free] = [ceilingsOf('inuse'), ceilingsOf('notuse')];
  const facts = [
    `${held.length} in use${held.length > 0 ? `, the first until ${earliest(held)}` : ''}`,
    `${free.length} free${free.length > 0 ? `, the first not before ${earliest(free)}` : ''}`,
  ];
  const [odd] = unreadable;
  if (odd !== undefined) facts.push(`${unreadable.length} unreadable, as ${pool.path(odd.workerId)}`);
  return new LeafError(
    'LEAF_WORKERS_USED_UP',
    `${description} has no worker ID left of its ${pool.size}: ${facts.join('; ')}. Stop servers that are not needed, or wait until those in use that nobody extends have been free for a minute; a shorter LEAF_SNOWFLAKE_LEASE_TTL_MS makes that sooner.`,
  );
}

function earliest(ceilings: readonly number[]): string {
  return new Date(Math.min(...ceilings)).toISOString();
}
