import type { SeededRandom } from '../seeded-random';

const PATHS = [
  '/api/segment/get/leaf-segment-test',
  '/api/snowflake/get/order',
  '/api/segment/batch/leaf-segment-test?size=3',
  '/api/segment/range/leaf-segment-test?size=5',
  '/api/snowflake/batch/order?size=2&nonce=abcdefgh',
  '/api/segment/get/missing',
  '/api/segment/get/%20',
  '/api/segment/batch/leaf-segment-test?size=0',
  '/api/snowflake/decode/1',
  '/nothing',
] as const;

const HEADERS = [
  'Accept: application/json',
  'Accept: text/plain, */*;q=0.5',
  'User-Agent: fuzz/1.0',
  'X-Request-Id: 1',
  'Connection: keep-alive',
  'Connection: close',
  'Content-Length: 0',
  'Content-Length: 4',
  'Transfer-Encoding: chunked',
  'Expect: 100-continue',
  'Upgrade: h2c',
  'X-Folded: a\r\n b',
  'Cookie: a=1; b=2',
  'Authorization: Bearer nobody',
] as const;

/** What a mutation inserts: bytes that end or change a token of the protocol. */
const PIECES = [
  '\r',
  '\n',
  '\r\n',
  '\0',
  ' ',
  '\t',
  ':',
  '\x0b',
  '\x7f',
  '\xff',
  '%',
  '?',
  '#',
  '/',
  '1',
  'GET ',
] as const;

/** The request that ends each stream: its response, or a refusal before it, ends the connection. */
const LAST = 'GET /api/snowflake/get/last HTTP/1.1\r\nHost: leaf\r\nConnection: close\r\n\r\n';

/** A client that sends bytes in pieces. */
export interface ByteStream {
  readonly bytes: Buffer;
  /** Where a piece ends. */
  readonly cuts: readonly number[];
}

function request(random: SeededRandom): string {
  const method = random.chance(0.95) ? 'GET' : random.pick(['HEAD', 'POST', 'OPTIONS', 'get', 'PRI']);
  const version = random.chance(0.97) ? '1.1' : random.pick(['1.0', '1.2', '2.0', '1.']);
  const lines = [`${method} ${random.pick(PATHS)} HTTP/${version}`, 'Host: leaf'];
  for (let left = random.below(4); left > 0; left--) if (random.chance(0.5)) lines.push(random.pick(HEADERS));
  if (random.chance(0.02)) lines.push('Host: other');
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function mutate(text: string, random: SeededRandom): string {
  const at = random.below(text.length + 1);
  switch (random.below(4)) {
    case 0:
      return text.slice(0, at) + random.pick(PIECES) + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(at + 1 + random.below(3));
    case 2:
      return text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1);
    default:
      return text.slice(0, at) + text.slice(Math.max(0, at - random.below(20)));
  }
}

/** Requests, most of them plain, some repeated to the letter, in a third of the streams with mutated bytes. */
export function streamOf(random: SeededRandom): ByteStream {
  const requests: string[] = [];
  for (let left = 1 + random.below(5); left > 0; left--) {
    const repeated = requests.at(-1);
    requests.push(repeated !== undefined && random.chance(0.4) ? repeated : request(random));
  }
  let text = requests.join('');
  if (random.chance(0.35)) for (let left = 1 + random.below(3); left > 0; left--) text = mutate(text, random);
  const bytes = Buffer.from(text + LAST, 'latin1');
  const cuts = random.chance(0.5) ? [] : Array.from({ length: 1 + random.below(4) }, () => random.below(bytes.length));
  return { bytes, cuts: cuts.sort((a, b) => a - b) };
}
