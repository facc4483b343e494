const PAUSE_MS = 10;
const LIMIT_MS = 60_000;

/**
 * Polls `look` until it returns a value other than undefined or false, and returns that value. For conditions without
 * an event; the time limit is more than slow machines need.
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  limitMs = LIMIT_MS,
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    // Known beforehand: when the machine stood still past the deadline, there is one more look.
    const late = performance.now() > deadline;
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen as Exclude<T, undefined | false>;
    if (late) throw new Error(`Not seen within ${limitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
