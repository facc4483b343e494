import type { NumberJson } from '@leaf-ids/core';
import { assertKey, assertTag, type AuditJson } from '@leaf-ids/core/internal';
import type { Continuation, NumberFilter, NumberList, NumberSource } from './number-source';

/** Sends a request. */
type Call = (path: string, init?: RequestInit) => Promise<{ readonly body: unknown; readonly headers: Headers }>;

/** Numbers by the HTTP API of a server. */
export class ServerNumbers implements NumberSource {
  constructor(private readonly call: Call) {}

  async issue(tag: string, keys: readonly string[], at: Date | undefined): Promise<readonly NumberJson[]> {
    const { numbers } = await this.send<{ numbers: NumberJson[] }>('PUT', pathOf(tag), { keys, at });
    return numbers;
  }

  confirm(tag: string, key: string): Promise<NumberJson> {
    return this.send('POST', `${pathOf(tag, key)}/confirm`);
  }

  void(tag: string, key: string, reason: string): Promise<NumberJson> {
    return this.send('POST', `${pathOf(tag, key)}/void`, { reason });
  }

  find(tag: string, key: string): Promise<NumberJson> {
    return this.send('GET', pathOf(tag, key));
  }

  async list(tag: string, filter: NumberFilter): Promise<NumberList> {
    const { body, headers } = await this.call(`${pathOf(tag)}?${queryOf(filter)}`);
    const [, next] = /^<\?([^>]*)>/.exec(headers.get('link') ?? '') ?? [];
    return { numbers: body as NumberJson[], next: new URLSearchParams(next).get('after') };
  }

  audit(tag: string, period: string | undefined): Promise<AuditJson> {
    return this.send('GET', `${pathOf(tag)}/audit?${queryOf({ period })}`);
  }

  async continueAfter(tag: string, { lastNumber, ...rest }: Continuation): Promise<number> {
    assertTag(tag);
    const body = { lastNumber: String(lastNumber), ...rest };
    const { skipped } = await this.send<{ skipped: number }>('POST', `/api/tags/${tag}/continue`, body);
    return skipped;
  }

  private async send<T>(method: string, path: string, body?: object): Promise<T> {
    const json = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    return (await this.call(path, { method, ...json })).body as T;
  }
}

/** @throws LeafError `LEAF_TAG_INVALID`, `LEAF_REQUEST_INVALID`: the path would be that of another route */
function pathOf(tag: string, key?: string): string {
  assertTag(tag);
  if (key === undefined) return `/api/numbers/${tag}`;
  assertKey(key);
  return `/api/numbers/${tag}/${encodeURIComponent(key)}`;
}

function queryOf(filter: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, String(value));
  return query.toString();
}
