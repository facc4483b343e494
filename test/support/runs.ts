/** Part of the runs of a property in the fast tier. */
const FAST_SHARE = 5;

/** jest.config.js sets it for the tier `long`, which runs the same files. */
const { fullRuns = false } = globalThis as { readonly fullRuns?: boolean };

/** How often to check a property: `full` times in the tier `long`, a fifth of it in the fast tier. */
export function runs(full: number): number {
  return fullRuns ? full : Math.ceil(full / FAST_SHARE);
}
