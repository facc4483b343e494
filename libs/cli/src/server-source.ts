import { type IdRange, LeafError, type NewTag, type SnowflakeParts } from '@leaf-ids/core';
import {
  isErrorCode,
  parseObject,
  parseProblem,
  reasonOf,
  table,
  type TagJson,
  visible,
} from '@leaf-ids/core/internal';
import { LeafClient } from '@leaf-ids/client';
import { ServerNumbers } from './server-numbers';
import type { Result, Source, TagList } from './source';

export interface ServerOptions {
  readonly url: string;
  readonly token: string | undefined;
  /** Limit for a command, in milliseconds. */
  readonly timeoutMs: number;
}

/** The response of `/health/ready`. */
interface Health {
  readonly status: string;
  readonly details: Readonly<Record<string, { readonly status: string; readonly message?: string }>>;
}

/** The state of a server, and the reason if it is not `ready`. */
interface ServerState {
  readonly state: string;
  readonly reason: string | null;
}

/** A running server, by its HTTP API. */
export class ServerSource implements Source {
  readonly numbers = new ServerNumbers((path, init) => this.call(path, init));
  private readonly client: LeafClient;
  private readonly base: string;

  /** @throws LeafError `LEAF_CONFIG_INVALID` */
  constructor(private readonly options: ServerOptions) {
    const { url, token, timeoutMs } = options;
    this.base = url.replace(/\/+$/, '');
    this.client = new LeafClient({
      servers: [url],
      timeoutMs,
      requestTimeoutMs: timeoutMs,
      prefetch: false,
      ...(token === undefined ? {} : { token }),
    });
  }

  nextIds(tag: string, count: number): Promise<bigint[]> {
    return this.taken(this.client.nextIds(tag, count));
  }

  nextRanges(tag: string, count: number): Promise<IdRange[]> {
    return this.taken(this.client.nextRanges(tag, count));
  }

  async nextTexts(tag: string, count: number, pattern: string): Promise<string[]> {
    const query = new URLSearchParams({ size: String(count), format: pattern });
    const { body } = await this.call(`/api/segment/period/${encodeURIComponent(tag)}?${query.toString()}`);
    const { texts } = body as { readonly texts?: string[] };
    if (texts !== undefined) return texts;
    throw new LeafError('LEAF_REQUEST_INVALID', 'The server does not support --format: it has an older version.');
  }

  snowflakes(count: number): Promise<bigint[]> {
    return this.taken(this.client.snowflakes(count));
  }

  async decode(id: bigint): Promise<SnowflakeParts> {
    const { body } = await this.call(`/api/snowflake/decode/${id}`);
    return body as SnowflakeParts;
  }

  async listTags(after: string | undefined, limit: number): Promise<TagList> {
    const query = new URLSearchParams({ ...(after === undefined ? {} : { after }), limit: String(limit) });
    const { body, headers } = await this.call(`/api/tags?${query.toString()}`);
    const tags = body as TagJson[];
    return { tags, next: headers.has('link') ? (tags.at(-1)?.tag ?? null) : null };
  }

  async findTag(tag: string): Promise<TagJson> {
    const { body } = await this.call(`/api/tags/${encodeURIComponent(tag)}`);
    return body as TagJson;
  }

  async createTag(tag: NewTag): Promise<TagJson> {
    const text = JSON.stringify(tag, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    const headers = { 'content-type': 'application/json' };
    const { body } = await this.call('/api/tags', { method: 'POST', body: text, headers });
    return body as TagJson;
  }

  async check(strict: boolean): Promise<Result> {
    const { status, text } = await this.send('/health/ready');
    const health = parseObject(text) as Partial<Health>;
    const { details } = health;
    if (details === undefined || (status !== 200 && status !== 503)) throw this.refusal(status, '', text);
    const { state, reason } = (await this.overview()) ?? stateOf(health);
    const rows = Object.entries(details).map(([part, { status: state, ...facts }]) => [
      part,
      state,
      Object.entries(facts)
        .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(', '),
    ]);
    const verdict = `The server is ${status === 200 ? state : `not ready: ${state}`}${reason === null ? '.' : `: ${visible(reason)}`}`;
    return {
      text: [...table(['PART', 'STATE', ''], rows), '', verdict].join('\n'),
      json: { ...health, state, reason },
      failed: status !== 200 || (strict && state !== 'ready'),
    };
  }

  async close(): Promise<void> {
    await this.client.close();
  }

  /** Replaces the messages of the client that address an application. */
  private async taken<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      const [server] = this.client.snapshot().servers;
      if (!(error instanceof LeafError)) throw error;
      if (error.code === 'LEAF_SERVERS_UNAVAILABLE') throw this.unavailable(server?.lastError ?? error.message);
      throw this.explained(error);
    }
  }

  /** Undefined if the monitoring API is closed to this address, or answers in another form. */
  private async overview(): Promise<ServerState | undefined> {
    const { status, text } = await this.send('/api/monitor/overview');
    const { state, reason } = (status === 200 ? parseObject(text) : {}) as Partial<ServerState>;
    if (typeof state !== 'string' || (typeof reason !== 'string' && reason !== null)) return undefined;
    return { state, reason };
  }

  private async call(path: string, init?: RequestInit): Promise<{ body: unknown; headers: Headers }> {
    const { status, headers, text } = await this.send(path, init);
    if (status >= 300) throw this.refusal(status, headers.get('content-type') ?? '', text);
    try {
      return { body: JSON.parse(text) as unknown, headers };
    } catch {
      throw this.refusal(status, '', text);
    }
  }

  private async send(
    path: string,
    init: RequestInit = {},
  ): Promise<{ status: number; headers: Headers; text: string }> {
    const { token, timeoutMs } = this.options;
    const headers = {
      accept: 'application/json, application/problem+json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(init.headers as Record<string, string> | undefined),
    };
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const response = await fetch(this.base + path, { ...init, headers, redirect: 'manual', signal });
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (error) {
      throw this.unavailable(reasonOf(error));
    }
  }

  private refusal(status: number, contentType: string, text: string): LeafError {
    const problem = parseProblem(contentType, text);
    if (problem === undefined) return this.unavailable(`status ${status} without a response of a Leaf server`);
    const { code, detail } = problem;
    return this.explained(new LeafError(isErrorCode(code) ? code : 'LEAF_REQUEST_INVALID', detail));
  }

  private unavailable(reason: string): LeafError {
    return new LeafError(
      'LEAF_SERVERS_UNAVAILABLE',
      `The server ${this.base} cannot be used: ${reason}. Start it, or name another one with --url or LEAF_URL.`,
    );
  }

  private explained(error: LeafError): LeafError {
    if (error.code !== 'LEAF_UNAUTHORIZED') return error;
    const fault = this.options.token === undefined ? 'requires a token' : 'does not accept the token';
    return new LeafError(
      'LEAF_UNAUTHORIZED',
      `The server ${this.base} ${fault}. Set LEAF_TOKEN to a valid token, or name a file that contains one with --token-file.`,
    );
  }
}

/** The state as far as probes tell it. */
function stateOf({ status = '', details = {} }: Partial<Health>): ServerState {
  const state = status === 'ok' ? 'ready' : status === 'error' ? 'down' : status;
  const worst = status === 'error' ? 'down' : 'degraded';
  return { state, reason: Object.values(details).find((part) => part.status === worst)?.message ?? null };
}
