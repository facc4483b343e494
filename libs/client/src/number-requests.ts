import type { NumberJson } from '@leaf-ids/core';
import { assertCount, assertKey, assertTag, MAX_KEYS } from '@leaf-ids/core/internal';
import { singleRequest, textOf } from './direct-requests';
import { asObject, isId, wrong } from './http/answers';
import type { HttpRequest } from './http/http-connection';
import type { Requester } from './http/requester';
import type { PrefetchContext } from './prefetch/prefetch-context';
import { RequestPolicy } from './servers/server-choice';

/** The number of a document. */
export interface IssuedNumber extends Omit<NumberJson, 'number'> {
  readonly number: bigint;
}

/** The advice of an error: what became of the request is not known. */
const REPEATABLE = 'Repeat the call with the same key: a document keeps the number that it may have received.';

/**
 * Numbers of documents without gaps, of gapless tags; one request per call. A request without a response goes to another
 * server: the key makes it repeatable. All methods reject with the refusal of the servers, `LEAF_SERVERS_UNAVAILABLE`
 * or `LEAF_OVERLOADED`; with `LEAF_TAG_INVALID` or `LEAF_REQUEST_INVALID` for a tag or key that is none; and with
 * `LEAF_NOT_READY` once the client is closed.
 */
export class NumberRequests {
  constructor(
    private readonly context: PrefetchContext & { readonly requester: Pick<Requester, 'send'> },
    private readonly assertOpen: () => void,
  ) {}

  /**
   * The numbers of 1 to 1000 documents, in the order of the keys. All or none; a document that has a number keeps it.
   *
   * @param at a time in the period of the documents; defaults to now
   */
  async issue(tag: string, keys: readonly string[], at?: Date): Promise<IssuedNumber[]> {
    assertCount(keys.length, MAX_KEYS);
    for (const key of keys) assertKey(key);
    const body = { keys, ...(at === undefined ? {} : { at: textOf(at) }) };
    return this.send(tag, { method: 'PUT', path: '', body }, (answer) => {
      const { numbers } = asObject(answer);
      if (!Array.isArray(numbers) || numbers.length !== keys.length) throw wrong(`it lacks ${keys.length} numbers`);
      return keys.map((key, index) => readNumber(numbers[index], tag, key));
    });
  }

  /** The document exists. A confirmed number cannot become void. */
  confirm(tag: string, key: string): Promise<IssuedNumber> {
    return this.sendOne(tag, key, { method: 'POST', path: '/confirm' });
  }

  /** No document has the number. A void number cannot be confirmed. */
  void(tag: string, key: string, reason: string): Promise<IssuedNumber> {
    return this.sendOne(tag, key, { method: 'POST', path: '/void', body: { reason } });
  }

  /** Rejects with `LEAF_NUMBER_NOT_FOUND` for a document without a number. */
  find(tag: string, key: string): Promise<IssuedNumber> {
    return this.sendOne(tag, key, { path: '' });
  }

  private async sendOne(tag: string, key: string, request: HttpRequest): Promise<IssuedNumber> {
    assertKey(key);
    const path = `/${encodeURIComponent(key)}${request.path}`;
    return this.send(tag, { ...request, path }, (answer) => readNumber(answer, tag, key));
  }

  private async send<T>(tag: string, request: HttpRequest, read: (answer: unknown) => T): Promise<T> {
    assertTag(tag);
    this.assertOpen();
    const { requester, clock } = this.context;
    const whole = { ...request, path: `/api/numbers/${tag}${request.path}` };
    return singleRequest(this.context, () => requester.send(new RequestPolicy(tag, clock), whole, read), REPEATABLE);
  }
}

function readNumber(body: unknown, tag: string, key: string): IssuedNumber {
  const answer = asObject(body);
  if (answer.tag !== tag || answer.key !== key) throw wrong('its number belongs to another document');
  if (!isId(answer.number) || typeof answer.state !== 'string') throw wrong('it has no number or no state');
  return { ...answer, number: BigInt(answer.number) } as IssuedNumber;
}
