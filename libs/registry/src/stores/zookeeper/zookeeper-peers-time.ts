import { type Clock, withinDeadline } from '@leaf-ids/core';

const PATH = '/api/internal/time';
const LIMIT_MS = 1000;
/** The answer has about 20. */
const MAX_BYTES = 1024;
/** As every server announces itself: a name or an address, a port, and nothing else. */
const SERVER_URL = /^http:\/\/(?:[\w.-]+|\[[\da-f:.]+\]):\d{1,5}\/?$/i;
/** Of one link, where clouds have their metadata; the second is 169.254.0.0/16 written as IPv6, the last that of AWS. */
const LINK_LOCAL = /^(?:169\.254\.|\[::ffff:a9fe:|\[fe[89ab][\da-f]:|\[fd00:ec2::)/;

/**
 * Whether a server can be asked at this address. Whoever may write the list could name any: what is no address of a
 * server of Leaf is not asked.
 */
export function isServerUrl(url: unknown): url is string {
  if (typeof url !== 'string' || !SERVER_URL.test(url) || !URL.canParse(url)) return false;
  // The parser knows every spelling of an address.
  return !LINK_LOCAL.test(new URL(url).hostname);
}

/**
 * Unix milliseconds by the clock of the server at `url`. Fails after a second at the latest, and for any answer that is
 * not a time.
 */
export async function askTime(url: string, clock: Clock): Promise<number> {
  const target = new URL(PATH, url);
  const abort = new AbortController();
  const answer = fetchTime(target, abort.signal);
  try {
    if (await withinDeadline(answer, clock.monotonic() + LIMIT_MS, clock)) return await answer;
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
