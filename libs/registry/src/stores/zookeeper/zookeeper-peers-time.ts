import type { Clock } from '@leaf-ids/core';
import { withinDeadline } from '@leaf-ids/core/internal';

const PATH = '/api/internal/time';
/** Time limit of a request to another server, in milliseconds. */
const LIMIT_MS = 1000;
/** The response has about 20 bytes. */
const MAX_BYTES = 1024;
/**
 * Requests the time of the server at `url`, in Unix milliseconds. Rejects after one second, and if the response is not
 * a time.
 */
export async function askTime(url: string, clock: Clock): Promise<number> {
  const target = new URL(PATH, url);
  const abort = new AbortController();
  const answer = fetchTime(target, abort.signal);
  try {
    if (await withinDeadline(answer, clock.monotonic() + LIMIT_MS, clock)) return await answer;
    throw new Error(`${target.href} did not respond within ${LIMIT_MS} ms`);
  } finally {
    abort.abort();
    // Ignore the rejection that the abort causes.
    answer.catch(() => undefined);
  }
}

async function fetchTime(target: URL, signal: AbortSignal): Promise<number> {
  const response = await fetch(target, { signal, redirect: 'error' });
  if (response.status !== 200) throw new Error(`${target.href} returned status ${response.status}`);
  const { now } = (JSON.parse(await readSome(response, target)) ?? {}) as { now?: unknown };
  if (Number.isSafeInteger(now) && (now as number) > 0) return now as number;
  throw new Error(`${target.href} returned no valid time`);
}

async function readSome({ body }: Response, target: URL): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new Error(`${target.href} returned more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
