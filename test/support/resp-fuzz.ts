import * as fc from 'fast-check';
import { encode, RespClient } from './resp-client';
import { until } from './until';

const TAG = 'leaf-segment-test';
/** Connections at once: a server at its limit would close one that has not been answered yet. */
const AT_ONCE = 500;
/** Commands that are sent on one connection, unless something invalid ends it before. */
const MAX_STREAMS = 50;

/** Bytes, and what the reply to them looks like. */
interface Piece {
  readonly bytes: string;
  /** Matches at the start of what has not been matched yet; undefined: the connection may end here. */
  readonly reply: RegExp | undefined;
}

const piece = (bytes: string, reply?: RegExp): Piece => ({ bytes, reply });
const integer = /^:(\d+)\r\n/;

const valid = fc.oneof(
  fc.nat().map((n) => piece(encode('ECHO', String(n)), new RegExp(`^\\$\\d+\\r\\n${n}\\r\\n`))),
  fc.constant(piece(encode('INCR', TAG), integer)),
  fc.constant(piece(`incr  ${TAG}\r\n`, integer)),
  fc.integer({ min: 1, max: 50 }).map((size) => piece(encode('incrby', TAG, String(size)), integer)),
  fc.constant(piece(encode('INCR', 'none'), /^-LEAF_TAG_NOT_FOUND [^\r]*\r\n/)),
  fc.constant(piece(encode('INCRBY', TAG, '0'), /^-LEAF_SIZE_INVALID [^\r]*\r\n/)),
  fc.constant(piece(encode('NONE', 'a'), /^-ERR unknown command 'NONE'\r\n/)),
  fc.constant(piece('PING\n', /^\+PONG\r\n/)),
  fc.constant(piece('\r\n*0\r\n', /^/)),
);
const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((any) => Buffer.from(any).toString('latin1'));
const damaged = fc.tuple(valid, fc.nat(), bytes).map(([{ bytes: text }, at, other]) => {
  const place = at % (text.length + 1);
  return text.slice(0, place) + other + text.slice(place);
});
const rubbish = fc
  .oneof(bytes, damaged, fc.constantFrom('*', '*1\r\n$', '*64\r\n', '$3\r\nfoo\r\n', 'POST / HTTP/1.1\r\n', '\0'))
  .map((text) => piece(text));
const stream = fc.record({
  pieces: fc.array(valid, { minLength: 1, maxLength: 8 }),
  end: fc.option(rubbish, { freq: 9 }),
  cuts: fc.array(fc.nat(400), { maxLength: 3 }),
});
type Stream = typeof stream extends fc.Arbitrary<infer T> ? T : never;

/**
 * Sends `count` streams of bytes, one in ten of them not valid at its end, and checks that each connection gets the
 * replies to its commands in their order, with ascending IDs.
 *
 * @returns number of replies
 * @throws Error that shows the first reply that is wrong
 */
export async function fuzz(port: number, count: number, seed: number): Promise<number> {
  let replies = 0;
  for (let done = 0; done < count;) {
    const part = fc.sample(stream, { numRuns: Math.min(AT_ONCE, count - done), seed: seed + done });
    const batches: Stream[][] = [[]];
    for (const each of part) {
      batches.at(-1)?.push(each);
      if (each.end !== null || batches.at(-1)?.length === MAX_STREAMS) batches.push([]);
    }
    const counts = await Promise.all(batches.map((streams) => send(port, streams)));
    replies += counts.reduce((sum, each) => sum + each, 0);
    done += part.length;
  }
  return replies;
}

async function send(port: number, streams: readonly Stream[]): Promise<number> {
  if (streams.length === 0) return 0;
  const client = await RespClient.to(port);
  for (const { pieces, end, cuts } of streams) {
    const text = [...pieces, ...(end === null ? [] : [end])].map((each) => each.bytes).join('');
    const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
    for (const [index, to] of places.slice(1).entries()) {
      client.socket.write(text.slice(places[index], to), 'latin1');
      if (places.length > 2) await new Promise((resolve) => setImmediate(resolve));
    }
  }
  client.socket.end();
  await until('the end of the connection', () => client.closed);
  return check(
    streams.flatMap(({ pieces }) => pieces),
    client.received,
  );
}

function check(pieces: readonly Piece[], received: string): number {
  let rest = received;
  let highest = 0n;
  for (const [index, { bytes: sent, reply }] of pieces.entries()) {
    const match = reply?.exec(rest);
    if (match === undefined || match === null) {
      throw new Error(`Reply ${index}, to ${JSON.stringify(sent)}, is ${JSON.stringify(rest.slice(0, 100))}`);
    }
    rest = rest.slice(match[0].length);
    if (match[1] === undefined) continue;
    const id = BigInt(match[1]);
    if (id <= highest) throw new Error(`ID ${id} of reply ${index} is not above ${highest}`);
    highest = id;
  }
  return pieces.length;
}
