import { LeafError } from '@leaf-ids/core';
import { until } from './until';

/** The first answer of `act`; repeats it while it rejects with a fault that passes by itself. */
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
