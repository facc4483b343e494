import { LeafError, type WorkerStore } from '@leaf-ids/core';

/** `before`: the write is not executed; `after`: it is executed, but its result is lost. */
export type Moment = 'before' | 'after';

/** Makes the next record write in `store` reject as if the connection had failed. */
export function failNextWrite(store: WorkerStore, moment: Moment): void {
  const [create, replace] = [store.create.bind(store), store.replace.bind(store)];
  const restore = (): void => void Object.assign(store, { create, replace });
  const failing =
    <Args extends unknown[]>(write: (...args: Args) => Promise<unknown>) =>
    async (...args: Args): Promise<never> => {
      restore();
      if (moment === 'after') await write(...args);
      throw new LeafError('LEAF_REGISTRY_UNREACHABLE', 'The answer was lost.', { retryAfterMs: 1000 });
    };
  Object.assign(store, { create: failing(create), replace: failing(replace) });
}
