import { connect } from 'node:net';
import { comparable, exchange } from '../http-fuzz/exchange';
import { requestOf } from './vectors';

/** A connection that waits for more bytes, such as the rest of a body, is given up after this time, in milliseconds. */
const QUIET_MS = 1000;
const VICTIM = { bytes: Buffer.from(requestOf('victim', 3, 'Connection: close')), cuts: [] };
const FOLLOWERS = requestOf('follower', 5) + requestOf('last', 7, 'Connection: close');

/** What the attacker and the victim received. */
export interface Outcome {
  /** Without what differs between two equal ones. */
  readonly responses: readonly string[];
  readonly isClosed: boolean;
  /** Requests for IDs that were answered on the connection of the attacker, in the order of the responses. */
  readonly answered: readonly string[];
  readonly victim: string;
}

/**
 * Sends `parts`, then a request on another connection, then two requests on the first one, which would end it. Each step
 * begins when there is a response to the one before it.
 */
export async function attack(port: number, parts: readonly string[]): Promise<Outcome> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1').setTimeout(QUIET_MS);
  let received = '';
  const until = (...events: readonly string[]): Promise<void> =>
    new Promise((resolve) => events.forEach((event) => socket.once(event, () => resolve())));
  const closed = until('close');
  socket.on('data', (text: string) => (received += text)).on('error', () => undefined);
  for (const part of parts) {
    const answered = until('data', 'close', 'timeout');
    socket.write(part, 'latin1');
    await answered;
  }
  const victim = await exchange(port, VICTIM);
  const quiet = until('timeout');
  if (socket.writable) socket.write(FOLLOWERS);
  await Promise.race([closed, quiet]);
  const isClosed = socket.destroyed;
  socket.destroy();
  return {
    responses: responsesOf(received),
    isClosed,
    answered: Array.from(received.matchAll(/^leaf-nonce: (\w+)\r$/gim), ([, nonce = '']) => nonce),
    victim: victim.received,
  };
}

function responsesOf(received: string): string[] {
  // A response of HTTP/0.9 has no headers, and is not taken for a body.
  return comparable(received)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'uuid')
    .split('\n\n');
}

/**
 * The first `count` responses, without the one to the only request that has no nonce, and a refusal in its place: when its
 * body is refused, the fast path has given the ID already, and the framework has not.
 */
export function withoutOwn({ responses, answered, ...others }: Outcome, count?: number): Outcome {
  const named = responses.filter((text) => /^leaf-nonce: /m.test(text));
  return { ...others, responses: named.slice(0, count), answered: answered.slice(0, count) };
}

/** Responses that are not those to the requests which they follow. */
export function mistakes({ answered, victim }: Outcome): string[] {
  const found: string[] = [];
  const [head = '', body = '', ...more] = victim.split('\r\n\r\n');
  const isOwn = head.startsWith('HTTP/1.1 200 ') && /^leaf-nonce: victim\r?$/im.test(head);
  if (!isOwn || more.length > 0 || body.includes('HTTP/') || sizeOf(body) !== 3) found.push(`To the victim: ${victim}`);
  const follower = answered.indexOf('follower');
  if (follower >= 0 && answered.slice(follower).join() !== 'follower,last') found.push(answered.join());
  if (answered.slice(0, -1).includes('last')) found.push(answered.join());
  return found;
}

function sizeOf(body: string): number {
  const { ranges } = JSON.parse(body) as { ranges: readonly { readonly from: string; readonly to: string }[] };
  return ranges.reduce((sum, { from, to }) => sum + Number(BigInt(to) - BigInt(from)) + 1, 0);
}
