import { LeafError, type RandomSource, type StoredWorker, type WorkerUsage } from '@leaf-ids/core';
import {
  type Choice,
  type ChoiceContext,
  formatTime,
  formatWorkerRange,
  type GraceOptions,
  isWorkerIn,
  WorkerPolicy,
  type WorkerRange,
  workersIn,
} from '@leaf-ids/core/internal';
import { registrationMs } from './fixed-policy';

const LARGEST_POOL = 1024;
/** Number of candidates to try before reading the records again. */
const TRIES_PER_LOOK = 16;
/** How long after its ceiling a record in use counts as expired, in milliseconds. Allows for late reports. */
const MARGIN_MS = 60_000;

/**
 * A server takes any free worker ID. A worker ID becomes free again when its ceiling has passed. Candidates are in
 * random order, so that servers that start at the same time rarely compete for the same one. A server with a range of
 * worker IDs sees the records of that range only.
 */
export class PoolPolicy extends WorkerPolicy {
  readonly exclusive = false;

  /** @param preferredWorkerId the worker ID to take first if it is free */
  constructor(private readonly preferredWorkerId?: number) {
    super();
  }

  graceMs(options: GraceOptions): number {
    return registrationMs(options);
  }

  async *choices(context: ChoiceContext): AsyncIterable<Choice> {
    const { store, leaseId, now, clockCompared, random, room } = context;
    const pool = this.usable(context.workers);
    const size = workersIn(pool);
    // Other servers may have other ranges, and an earlier layout with more worker bits may have left records.
    const listed = await store.list();
    const records = listed.filter(({ workerId }) => isWorkerIn(pool, workerId));
    yield* records.filter(({ record }) => record.leaseId === leaseId && !record.free).map((take) => ({ take }));
    const most = room?.(listed) ?? size;
    const free = leastRecent(records.filter((stored) => isFree(stored, now))).slice(0, most);
    const taken = new Set(records.map(({ workerId }) => workerId));
    const unused = Array.from({ length: size }, (_, index) => pool.first + index)
      .filter((workerId) => !taken.has(workerId))
      .slice(0, most - free.length);
    if (free.length + unused.length > 0) {
      yield* free.filter(({ workerId }) => workerId === this.preferredWorkerId).map((take) => ({ take }));
      yield* unused.filter((workerId) => workerId === this.preferredWorkerId).map((create) => ({ create }));
      yield* mixed(free, random).map((take) => ({ take }));
      yield* shuffled(unused, random)
        .slice(0, TRIES_PER_LOOK)
        .map((create) => ({ create }));
      return;
    }
    const expired = records.filter((stored) => isExpired(stored, now));
    if (expired.length === 0 || !clockCompared) throw usedUp(store.description, records, pool, expired.length);
    yield* mixed(leastRecent(expired).slice(0, most), random).map((take) => ({ take }));
  }

  override usable({ first, last }: WorkerRange): WorkerRange {
    return { first, last: Math.min(last, first + LARGEST_POOL - 1) };
  }

  usage(records: readonly StoredWorker[], workers: WorkerRange, now: number): WorkerUsage {
    const pool = this.usable(workers);
    const isUsed = (stored: StoredWorker): boolean => !isFree(stored, now) && !isExpired(stored, now);
    const used = records.filter((stored) => isWorkerIn(pool, stored.workerId) && isUsed(stored)).length;
    return { used, most: workersIn(pool), ...(pool.first > 0 && { first: pool.first }) };
  }
}

function isFree({ record: { free, ceiling } }: StoredWorker, now: number): boolean {
  return free && ceiling <= now;
}

/** Whether a record has expired by our clock, which must have been compared with others. */
function isExpired({ record: { free, ceiling } }: StoredWorker, now: number): boolean {
  return !free && ceiling + MARGIN_MS < now;
}

/** The least recently used ones first: all holders that may take only some of them see the same ones. */
function leastRecent(records: readonly StoredWorker[]): StoredWorker[] {
  return [...records].sort((a, b) => a.record.ceiling - b.record.ceiling || a.workerId - b.workerId);
}

/** The records in random order, the first half first. */
function mixed(sorted: readonly StoredWorker[], random: RandomSource): StoredWorker[] {
  const half = Math.ceil(sorted.length / 2);
  return [...shuffled(sorted.slice(0, half), random), ...shuffled(sorted.slice(half), random)].slice(0, TRIES_PER_LOOK);
}

function shuffled<T>(values: readonly T[], random: RandomSource): T[] {
  const left = [...values];
  return values.map(() => left.splice(random(left.length), 1)).flat();
}

function usedUp(description: string, records: readonly StoredWorker[], pool: WorkerRange, expired: number): LeafError {
  const ceilingsOf = (free: boolean): number[] =>
    records.filter(({ record }) => record.free === free).map(({ record }) => record.ceiling);
  const [held, free] = [ceilingsOf(false), ceilingsOf(true)];
  const facts = [
    `${held.length} in use${held.length > 0 ? `, the first until ${earliest(held)}` : ''}`,
    `${free.length} released${free.length > 0 ? `, the first reusable at ${earliest(free)}` : ''}`,
  ];
  if (expired > 0)
    facts.push(`${expired} expired by the clock of this server, which could not be compared with other clocks`);
  return new LeafError(
    'LEAF_WORKERS_USED_UP',
    `All worker IDs of ${description} that this server may take, ${formatWorkerRange(pool)}, are used: ${facts.join('; ')}. Stop servers that are not needed, or wait: worker IDs of killed servers become free at these times. A shorter time in the option snowflake.leaseTtlMs frees them sooner.`,
  );
}

function earliest(ceilings: readonly number[]): string {
  return formatTime(Math.min(...ceilings));
}
