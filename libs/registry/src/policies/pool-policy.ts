import {
  type Choice,
  type ChoiceContext,
  type GraceOptions,
  LeafError,
  type RandomSource,
  type StoredWorker,
  WorkerPolicy,
  type WorkerUsage,
} from '@leaf-ids/core';

const LARGEST_POOL = 1024;
/** After so many lost races, reading the records again saves more races than it costs. */
const TRIES_PER_LOOK = 16;
/** How long after its ceiling a record in use counts as expired, in milliseconds: for holders that report late. */
const MARGIN_MS = 60_000;
/** The grace gives every holder the time for so many reports. */
const REPORTS = 3;

/**
 * A server takes any free worker ID, which is free again once its ceiling has passed. Servers that start together
 * choose at random, so that they seldom choose the same one.
 */
export class PoolPolicy extends WorkerPolicy {
  readonly exclusive = false;

  /** Long enough for every holder that reaches the registry to register again. */
  graceMs({ reportMs, maxClockOffsetMs }: GraceOptions): number {
    return REPORTS * reportMs + maxClockOffsetMs;
  }

  async *choices(context: ChoiceContext): AsyncIterable<Choice> {
    const { store, leaseId, maxWorkerId, now, clockCompared, random } = context;
    const size = poolSize(maxWorkerId);
    // A layout with more worker bits may have left records above the size.
    const records = (await store.list()).filter(({ workerId }) => workerId < size);
    yield* records.filter(({ record }) => record.leaseId === leaseId && !record.free).map((take) => ({ take }));
    const free = records.filter((stored) => isFree(stored, now));
    const taken = new Set(records.map(({ workerId }) => workerId));
    const unused = Array.from({ length: size }, (_, workerId) => workerId).filter((workerId) => !taken.has(workerId));
    if (free.length + unused.length > 0) {
      yield* longestUnused(free, random).map((take) => ({ take }));
      yield* shuffled(unused, random)
        .slice(0, TRIES_PER_LOOK)
        .map((create) => ({ create }));
      return;
    }
    const expired = records.filter((stored) => isExpired(stored, now));
    if (expired.length === 0 || !clockCompared) throw usedUp(store.description, records, size, expired.length);
    yield* longestUnused(expired, random).map((take) => ({ take }));
  }

  usage(records: readonly StoredWorker[], maxWorkerId: number, now: number): WorkerUsage {
    const used = records.filter((stored) => !isFree(stored, now) && !isExpired(stored, now)).length;
    return { used, most: poolSize(maxWorkerId) };
  }
}

function poolSize(maxWorkerId: number): number {
  return Math.min(LARGEST_POOL, maxWorkerId + 1);
}

function isFree({ record: { free, ceiling } }: StoredWorker, now: number): boolean {
  return free && ceiling <= now;
}

/** By our own clock: such a record may only be taken once that clock was compared with others. */
function isExpired({ record: { free, ceiling } }: StoredWorker, now: number): boolean {
  return !free && ceiling + MARGIN_MS < now;
}

/** In random order, those of the half that was used longest ago first. */
function longestUnused(records: readonly StoredWorker[], random: RandomSource): StoredWorker[] {
  const sorted = [...records].sort((a, b) => a.record.ceiling - b.record.ceiling);
  const half = Math.ceil(sorted.length / 2);
  return [...shuffled(sorted.slice(0, half), random), ...shuffled(sorted.slice(half), random)].slice(0, TRIES_PER_LOOK);
}

function shuffled<T>(values: readonly T[], random: RandomSource): T[] {
  const left = [...values];
  return values.map(() => left.splice(random(left.length), 1)).flat();
}

function usedUp(description: string, records: readonly StoredWorker[], size: number, expired: number): LeafError {
  const ceilingsOf = (free: boolean): number[] =>
    records.filter(({ record }) => record.free === free).map(({ record }) => record.ceiling);
  const [held, free] = [ceilingsOf(false), ceilingsOf(true)];
  const facts = [
    `${held.length} in use${held.length > 0 ? `, the first until ${earliest(held)}` : ''}`,
    `${free.length} free${free.length > 0 ? `, the first not before ${earliest(free)}` : ''}`,
  ];
  if (expired > 0) facts.push(`${expired} expired by the clock of this server, which no other clock confirms`);
  return new LeafError(
    'LEAF_WORKERS_USED_UP',
    `${description} has none of its ${size} worker IDs left: ${facts.join('; ')}. Stop servers that are not needed, or wait: worker IDs of killed servers become free at these times. A shorter LEAF_SNOWFLAKE_LEASE_TTL_MS (embedded: snowflake.horizonMs) frees them sooner.`,
  );
}

function earliest(ceilings: readonly number[]): string {
  return new Date(Math.min(...ceilings)).toISOString();
}
