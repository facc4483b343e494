import { type Clock, LeafError } from '@leaf-ids/core';
import { HttpEndpoint, messageOf, NONCE_HEADER, rule, textOr, that, withinDeadline } from '@leaf-ids/core/internal';
import { ServerFault } from '../servers/server-health';

/** A token, or a function that returns the current one. */
export type ClientToken = string | (() => string | Promise<string>);

/** Bearer tokens of RFC 6750. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

export const tokenRule = textOr(
  that('contains characters that a header cannot carry', (value: string) => TOKEN.test(value)),
  rule('a string or a function', (value) => typeof value === 'function'),
);

const ENDPOINT = {
  /** Far above the largest response: 10,000 snowflake IDs are 220 kB. */
  maxBytes: 1_048_576,
  /** Shorter than the keep-alive of the server, so that no request uses a connection that the server is closing. */
  keepAliveMs: 30_000,
};
/** A cache between client and server must not respond: it would return the same IDs twice. */
const HEADERS = { accept: 'application/json, application/problem+json', 'cache-control': 'no-store' };
/** What an `Authorization` header can contain: visible ASCII characters and spaces. */
const HEADER_TEXT = /^[\x20-\x7e]*$/;

export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  /** The nonce of the request; undefined from a server that does not return nonces. */
  readonly nonce: string | undefined;
  readonly text: string;
}

export interface HttpRequest {
  /** `GET` by default. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path below the base URL, with a query string. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: object;
  /** Replaces the token of the connection. */
  readonly token?: ClientToken | undefined;
}

interface HttpConnectionOptions {
  /** Limit for one request, including the token function and the response body, in milliseconds. */
  readonly timeoutMs: number;
  readonly token?: ClientToken | undefined;
}

/** The connections to one server, with the token of the client. */
export class HttpConnection {
  private readonly endpoint: HttpEndpoint;

  /** @param url base URL of the routes */
  constructor(
    url: URL,
    private readonly options: HttpConnectionOptions,
    private readonly clock: Clock,
  ) {
    this.endpoint = new HttpEndpoint(url, ENDPOINT, clock);
  }

  /** @throws ServerFault when the token or the response is not complete in time; LeafError when there is no token */
  async send({ method = 'GET', path, body, token = this.options.token }: HttpRequest): Promise<HttpAnswer> {
    const { timeoutMs } = this.options;
    const deadline = this.clock.monotonic() + timeoutMs;
    const ofBody = body && { 'content-type': 'application/json' };
    const given = { ...HEADERS, ...ofBody, ...(await this.authorization(token, deadline)) };
    const request = { method, path, headers: given, ...(body && { body: JSON.stringify(body) }) };
    try {
      const { status, headers, text } = await this.endpoint.request(request, timeoutMs, deadline);
      return {
        ...{ status, text, contentType: headers['content-type'] ?? '', retryAfter: headers['retry-after'] },
        nonce: only(headers[NONCE_HEADER]),
      };
    } catch (error) {
      throw new ServerFault(`no response: ${messageOf(error)}`, undefined, { cause: error });
    }
  }

  /** Aborts all requests and closes the connections. */
  close(): void {
    this.endpoint.close();
  }

  private async authorization(token: ClientToken | undefined, deadline: number): Promise<Record<string, string>> {
    if (token === undefined) return {};
    const value = typeof token === 'string' ? token : await this.call(token, deadline);
    // Otherwise `node:http` would throw a TypeError.
    if (!HEADER_TEXT.test(value)) {
      throw new LeafError('LEAF_UNAUTHORIZED', 'The token contains characters that a header cannot contain.');
    }
    return { authorization: `Bearer ${value}` };
  }

  private async call(token: () => string | Promise<string>, deadline: number): Promise<string> {
    try {
      const value = (async () => await token())();
      if (await withinDeadline(value, deadline, this.clock)) return await value;
    } catch (cause) {
      // The message of the cause can contain a secret: it is not repeated here.
      throw new LeafError('LEAF_UNAUTHORIZED', 'The token function failed. See the cause of this error.', { cause });
    }
    throw new ServerFault(`no request: the token function did not answer within ${this.options.timeoutMs} ms`);
  }
}

function only(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
