import { type Clock, settledBefore } from '@leaf/core';

const PATH = 'api/internal/time';
const LIMIT_MS = 1000;
/** The answer has about 20. */
const MAX_BYTES = 1024;

/** Whether a server can be asked at this address. */
export function isServerUrl(url: unknown): url is string {
  return typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/**
 * Unix milliseconds by the clock of the server at `url`. Fails after a second at the latest, and for any answer that is
 * not a time.
 */
export async function askTime(url: string, clock: Clock): Promise<number> {
  const target = new URL(PATH, url.endsWith('/') ? url : `${url}/`);
  const abort = new AbortController();
  const answer = fetchTime(target, abort.signal);
  try {
    if (await settledBefore(answer, clock.monotonic() + LIMIT_MS, clock)) return await answer;
    throw new Error(`${target.href} did not answer within ${LIMIT_MS} ms`);
  } finally {
    abort.abort();
    // What the end of the request does to it is of no interest any more.
    answer.catch(() => undefined);
  }
}

async function fetchTime(target: URL, signal: AbortSignal): Promise<number> {
  const response = await fetch(target, { signal, redirect: 'error' });
  if (response.status !== 200) throw new Error(`${target.href} answered with status ${response.status}`);
  const { now } = (JSON.parse(await readSome(response, target)) ?? {}) as { now?: unknown };
  if (Number.isSafeInteger(now) && (now as number) > 0) return now as number;
  throw new Error(`${target.href} answered with something that is no time`);
}

async function readSome({ body }: Response, target: URL): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new Error(`${target.href} answered with more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
