import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, MAX_RANGE_SIZE } from '@leaf-ids/core';
import { isTag, NO_NONCE, NONCE_HEADER, NONCE_PARAMETER, NONCE_PATTERN } from '@leaf-ids/core/internal';
import type { EmbeddedIdService } from '@leaf-ids/id';
import type { Drain } from '../lifecycle/drain';
import type { ClientAccess, IdQuota } from '../clients/client-access';
import { BatchText, rangesText } from './responses/batch-text';
import type { RequestCount, RequestCounts } from './request-counts';
import { API_HEADERS, COMMON_HEADERS } from './responses/problem';
import { ResponseHead } from './responses/response-head';
import { jsonId, type JsonIds, prefersJson } from './java-requests';

export const SEGMENT_ROUTE = '/api/segment/get/:tag';
export const SNOWFLAKE_ROUTE = '/api/snowflake/get/:key';
export const TEXT_TYPE = 'text/plain; charset=utf-8';
export const JSON_TYPE = 'application/json; charset=utf-8';

/** A larger batch costs much more than its refusal, and waits for its turn like all other requests. */
const MAX_FAST_BATCH = 250;
/** Decimal digits of the largest ID, and the quotes around it. */
const MAX_ID_LENGTH = 21;
const NONCE = `&${NONCE_PARAMETER}=`;

type Charging = Pick<ClientAccess, 'tryCharge'>;
type Answer = (ids: EmbeddedIdService, name: string, size: number) => string | undefined;

/** The headers that a response has in any case, built once. Those of one ID are by the length of the body. */
interface Headers {
  readonly text: readonly ResponseHead[];
  readonly jsonId: readonly ResponseHead[];
  readonly json: readonly string[];
}

/** A route of many IDs. */
interface ManyRoute {
  readonly prefix: string;
  readonly maxSize: number;
  readonly count: RequestCount;
  readonly answer: Answer;
}

/**
 * Answers simple requests ahead of the framework: a plain GET, a tag without escapes, IDs in memory, a small batch or
 * ranges. Every other request, and every error, is left to the ordinary routes, which give the same responses.
 */
export class FastPath {
  private ids: EmbeddedIdService | undefined;
  private clients: Charging | undefined;
  private readonly segmentPrefix = prefixOf(SEGMENT_ROUTE);
  private readonly snowflakePrefix = prefixOf(SNOWFLAKE_ROUTE);
  private readonly segmentCount: RequestCount;
  private readonly snowflakeCount: RequestCount;
  private readonly manyRoutes: readonly ManyRoute[];
  private readonly batchText = new BatchText();
  private readonly headers: Headers = {
    text: headsOf(TEXT_TYPE),
    jsonId: headsOf(JSON_TYPE),
    json: [...Object.entries(API_HEADERS).flat(), 'content-type', JSON_TYPE],
  };

  constructor(
    private readonly counts: RequestCounts,
    private readonly drain: Drain,
    private readonly jsonIds: JsonIds,
    private readonly clock: Clock,
  ) {
    this.segmentCount = counts.of(SEGMENT_ROUTE, 200);
    this.snowflakeCount = counts.of(SNOWFLAKE_ROUTE, 200);
    const many = (route: string, maxSize: number, answer: Answer): ManyRoute => ({
      prefix: prefixOf(route),
      maxSize,
      count: counts.of(route, 200),
      answer,
    });
    this.manyRoutes = [
      many('/api/segment/batch/:tag', MAX_FAST_BATCH, (ids, tag, size) => {
        const ranges = ids.tryRanges(tag, size);
        return ranges && this.batchText.write('tag', tag, ranges);
      }),
      many('/api/segment/range/:tag', MAX_RANGE_SIZE, (ids, tag, size) => {
        const ranges = ids.tryRanges(tag, size);
        return ranges && rangesText(tag, ranges);
      }),
      many('/api/snowflake/batch/:key', MAX_FAST_BATCH, (ids, key, size) => {
        const range = isTag(key) ? ids.trySnowflakeRange(size) : undefined;
        return range && this.batchText.write('key', key, [range]);
      }),
    ];
  }

  /**
   * From now on requests are answered from `ids`.
   */
  serve(ids: EmbeddedIdService, clients: Charging): void {
    this.ids = ids;
    this.clients = clients;
  }

  /** @returns whether the request was answered */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    const { ids, clients } = this;
    if (ids === undefined || clients === undefined || request.method !== 'GET') return false;
    const begunAt = this.counts.begin();
    const url = request.url as string;
    if (url.startsWith(this.snowflakePrefix)) {
      const key = url.slice(this.snowflakePrefix.length);
      if (!isTag(key)) return false;
      const quota = clients.tryCharge(request, key, 1);
      const id = quota && ids.trySnowflakeString();
      return this.send(id, response, this.snowflakeCount, begunAt, quota);
    }
    if (url.startsWith(this.segmentPrefix)) {
      const tag = url.slice(this.segmentPrefix.length);
      const quota = clients.tryCharge(request, tag, 1);
      const id = quota && ids.tryNext(tag);
      return this.send(id === undefined ? undefined : String(id), response, this.segmentCount, begunAt, quota);
    }
    return this.answerMany(ids, clients, request, response, begunAt);
  }

  /**
   * Answers a request for one ID of a strict tag once the database has. Resolves with the reason if there is no ID, which
   * is not sent; undefined if this is another request.
   */
  answerLater(request: IncomingMessage, response: ServerResponse): Promise<unknown> | undefined {
    const { ids, clients } = this;
    const { method, url = '' } = request;
    if (ids === undefined || clients === undefined || method !== 'GET' || !url.startsWith(this.segmentPrefix))
      return undefined;
    const tag = url.slice(this.segmentPrefix.length);
    if (!ids.isStrict(tag)) return undefined;
    const quota = clients.tryCharge(request, tag, 1);
    return (
      quota &&
      ids.nextIdString(tag).then(
        (id) => this.write(id, response),
        (refusal: unknown) => {
          quota.giveBack(1);
          return refusal;
        },
      )
    );
  }

  private send(
    id: string | undefined,
    response: ServerResponse,
    count: RequestCount,
    begunAt: number,
    quota: IdQuota | undefined,
  ): boolean {
    if (id === undefined) {
      quota?.giveBack(1);
      return false;
    }
    this.write(id, response);
    this.counts.end(count, begunAt);
    return true;
  }

  private write(id: string, response: ServerResponse): void {
    const isJson = prefersJson(response.req);
    const body = isJson ? jsonId(id, this.jsonIds) : id;
    const head = (isJson ? this.headers.jsonId : this.headers.text)[body.length] as ResponseHead;
    if (this.drain.active) response.shouldKeepAlive = false;
    head.send(response, body, this.clock.now());
  }

  private answerMany(
    ids: EmbeddedIdService,
    clients: Charging,
    request: IncomingMessage,
    response: ServerResponse,
    begunAt: number,
  ): boolean {
    const url = request.url as string;
    const route = this.manyRoutes.find(({ prefix }) => url.startsWith(prefix));
    const query = url.indexOf('?size=');
    if (route === undefined || query < 0) return false;
    const nonceAt = url.indexOf(NONCE, query);
    const size = plainSize(url.slice(query + '?size='.length, nonceAt < 0 ? undefined : nonceAt));
    if (size === 0 || size > route.maxSize) return false;
    const nonce = nonceAt < 0 ? NO_NONCE : url.slice(nonceAt + NONCE.length);
    if (nonceAt >= 0 && !NONCE_PATTERN.test(nonce)) return false;
    const tag = url.slice(route.prefix.length, query);
    const quota = clients.tryCharge(request, tag, size);
    const text = quota && route.answer(ids, tag, size);
    if (text === undefined) {
      quota?.giveBack(size);
      return false;
    }
    const headers = [...this.headers.json, NONCE_HEADER, nonce, 'content-length', String(text.length)];
    if (this.drain.active) response.shouldKeepAlive = false;
    response.writeHead(200, headers);
    response.end(text, 'latin1');
    this.counts.end(route.count, begunAt);
    return true;
  }
}

function headsOf(type: string): ResponseHead[] {
  const common = [...Object.entries(COMMON_HEADERS).flat(), 'content-type', type, 'content-length'];
  return Array.from({ length: MAX_ID_LENGTH + 1 }, (_, length) => new ResponseHead([...common, String(length)]));
}

function prefixOf(route: string): string {
  return route.slice(0, route.lastIndexOf(':'));
}

/** 0 if it is not a plain number: the ordinary route decides then. */
function plainSize(text: string): number {
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 0;
}
