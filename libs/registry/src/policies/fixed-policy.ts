import type { StoredWorker, WorkerUsage } from '@leaf-ids/core';
import {
  type Choice,
  type ChoiceContext,
  type GraceOptions,
  WorkerPolicy,
  type WorkerRange,
} from '@leaf-ids/core/internal';

/** Two reports may fail. */
const REPORTS = 3;

/** The time in which every holder that can reach an emptied registry registers again, in milliseconds. */
export function registrationMs({ reportMs, clockOffsetMs }: GraceOptions): number {
  return REPORTS * reportMs + clockOffsetMs;
}

/** One record for each `ip:port`, which no other address ever gets. */
export class FixedPolicy extends WorkerPolicy {
  readonly exclusive = true;

  /**
   * Long enough for every earlier ceiling to pass, by any clock within the allowed offset, and for every holder that can
   * reach the registry to register again.
   */
  graceMs(options: GraceOptions): number {
    return Math.max(options.leaseTtlMs + options.clockOffsetMs, registrationMs(options));
  }

  /** Chooses the lowest record of the instance: a lost reply to a create can leave more than one. */
  async *choices({ store, instance, previous }: ChoiceContext): AsyncIterable<Choice> {
    const own = await store.list(instance);
    const [lowest] = own.sort((a, b) => a.workerId - b.workerId);
    if (lowest !== undefined) yield { take: lowest };
    else if (previous !== undefined) yield* [{ create: previous }, { create: undefined }];
    else yield { create: undefined };
  }

  /** Worker IDs are assigned in ascending order and never reused: all up to the highest are used. */
  usage(records: readonly StoredWorker[], { last }: WorkerRange): WorkerUsage | undefined {
    const highest = Math.max(-1, ...records.map(({ workerId }) => workerId));
    return { used: Math.min(highest, last) + 1, most: last + 1 };
  }
}
