import { LeafError } from '@leaf-ids/core';
import { until } from './until';

/** Returns the result of `act`; retries while it rejects with a transient error. */
export async function recovered<T>(act: () => Promise<T>, passes = isUnreachable): Promise<T> {
  const { answer } = await until('an answer', async () => {
    try {
      return { answer: await act() };
    } catch (error) {
      if (!passes(error)) throw error;
      return undefined;
    }
  });
  return answer;
}

function isUnreachable(error: unknown): boolean {
  return error instanceof LeafError && error.code === 'LEAF_REGISTRY_UNREACHABLE';
}
