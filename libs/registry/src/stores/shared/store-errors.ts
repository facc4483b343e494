import { LeafError } from '@leaf-ids/core';

/** The error for a fault that only an operator can correct. */
export function unusable(description: string, problem: string, cause?: unknown): LeafError {
  return new LeafError('LEAF_CONFIG_INVALID', `Cannot use the worker registry ${description}. ${problem}`, { cause });
}

/** The error for a fault that may be transient. */
export function unavailable(description: string, problem: string, cause?: unknown, retryAfterMs = 1000): LeafError {
  return new LeafError(
    'LEAF_REGISTRY_UNREACHABLE',
    `The worker registry ${description} is unavailable. ${problem} This server retries automatically.`,
    { cause, retryAfterMs },
  );
}

/** @param what the object that holds the data: `node /snowflake/leaf/registry` */
export function unreadable(description: string, what: string): LeafError {
  return new LeafError(
    'LEAF_WORKER_FILE_INVALID',
    `The ${what} of ${description} has data that Leaf did not write. Leaf has not changed it. Correct it: docs/operations/worker-registry.md#a-record-that-cannot-be-read.`,
  );
}
