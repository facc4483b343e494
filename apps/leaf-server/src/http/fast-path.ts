import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, type IdRange, MAX_RANGE_SIZE } from '@leaf-ids/core';
import { isTag, NO_NONCE, NONCE_HEADER, NONCE_PARAMETER, NONCE_PATTERN } from '@leaf-ids/core/internal';
import type { EmbeddedIdService } from '@leaf-ids/id';
import type { Drain } from '../lifecycle/drain';
import type { ClientAccess } from '../clients/client-access';
import type { OverloadCounts } from './overload/refusals';
import { BatchText, rangesText } from './responses/batch-text';
import type { RequestCount, RequestCounts } from './request-counts';
import { API_HEADERS, COMMON_HEADERS } from './responses/problem';
import { jsonId, type JsonIds, prefersJson } from './java-requests';

export const SEGMENT_ROUTE = '/api/segment/get/:tag';
export const SNOWFLAKE_ROUTE = '/api/snowflake/get/:key';
export const TEXT_TYPE = 'text/plain; charset=utf-8';
export const JSON_TYPE = 'application/json; charset=utf-8';

/** A larger batch costs much more than its refusal, and waits for its turn like all other requests. */
const MAX_FAST_BATCH = 250;
const SIZE = '?size=';
const NONCE = `&${NONCE_PARAMETER}=`;

type Charging = Pick<ClientAccess, 'tryCharge'>;

interface IdRoute {
  /** The route up to the name. */
  readonly prefix: string;
  /** Largest number of IDs in one call; undefined: the route of a single ID. */
  readonly maxSize?: number;
  readonly count: RequestCount;
  /** The IDs; undefined if they are not in memory. */
  tryTake(ids: EmbeddedIdService, name: string, size: number): string | undefined;
  /** Whether IDs that are not in memory come without a refill of the buffer. */
  canWait(ids: EmbeddedIdService, name: string): boolean;
  take(ids: EmbeddedIdService, name: string, size: number): Promise<string>;
}

type Taking = Pick<IdRoute, 'tryTake' | 'take'>;

/** A request for IDs that may be in memory. */
export interface IdCall {
  readonly route: IdRoute;
  /** The tag, or the key of a snowflake ID. */
  readonly name: string;
  readonly size: number;
  readonly nonce: string;
}

/**
 * Answers plain requests for IDs ahead of the framework: from memory, or, in {@link take}, once a strict tag or the next
 * millisecond gives them. All others, and all errors, are left to the ordinary routes, which give the same responses.
 */
export class FastPath {
  private ids: EmbeddedIdService | undefined;
  private clients: Charging | undefined;
  private readonly routes: readonly IdRoute[];
  private readonly refusals = new WeakMap<IncomingMessage, unknown>();

  constructor(
    readonly counts: RequestCounts,
    readonly drain: Drain,
    private readonly jsonIds: JsonIds,
    readonly clock: Clock,
    private readonly overload: OverloadCounts,
    private readonly maxInFlight: number,
  ) {
    this.routes = routesOf(counts);
  }

  /** From now on requests are answered from `ids`. */
  serve(ids: EmbeddedIdService, clients: Charging): void {
    this.ids = ids;
    this.clients = clients;
  }

  /** The call of a GET request; undefined for any other. */
  callOf(url: string): IdCall | undefined {
    const route = this.routes.find(({ prefix }) => url.startsWith(prefix));
    if (route === undefined) return undefined;
    const { prefix, maxSize } = route;
    if (maxSize === undefined) return { route, name: url.slice(prefix.length), size: 1, nonce: NO_NONCE };
    const query = url.indexOf(SIZE);
    if (query < 0) return undefined;
    const nonceAt = url.indexOf(NONCE, query);
    const size = plainSize(url.slice(query + SIZE.length, nonceAt < 0 ? undefined : nonceAt));
    if (size === 0 || size > maxSize) return undefined;
    const nonce = nonceAt < 0 ? NO_NONCE : url.slice(nonceAt + NONCE.length);
    if (nonceAt >= 0 && !NONCE_PATTERN.test(nonce)) return undefined;
    return { route, name: url.slice(prefix.length, query), size, nonce };
  }

  /**
   * The body of the response: the IDs are taken, and the quota of the client is charged.
   *
   * @param authorization the header of that name
   * @returns undefined if the IDs are not in memory, or the request is refused: the framework answers it then
   */
  tryTake({ route, name, size }: IdCall, authorization: string | undefined, isJson: boolean): string | undefined {
    const { ids, clients } = this;
    if (ids === undefined || clients === undefined) return undefined;
    const quota = clients.tryCharge(authorization, name, size);
    if (quota === undefined) return undefined;
    const text = route.tryTake(ids, name, size);
    if (text === undefined) quota.giveBack(size);
    return text !== undefined && isJson ? jsonId(text, this.jsonIds) : text;
  }

  /** @returns whether the request was answered */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.ids === undefined || request.method !== 'GET') return false;
    const begunAt = this.counts.begin();
    const call = this.callOf(request.url as string);
    if (call === undefined) return false;
    const isJson = call.route.maxSize === undefined && prefersJson(request.rawHeaders);
    const body = this.tryTake(call, request.headers.authorization, isJson);
    if (body === undefined) return false;
    this.write(call, isJson, body, response);
    this.counts.end(call.route.count, begunAt);
    return true;
  }

  /**
   * Waits for the IDs, of a strict tag or of the next millisecond, then as {@link tryTake}.
   *
   * @returns undefined if the framework answers the request; rejects with the refusal
   */
  take({ route, name, size }: IdCall, authorization: string | undefined, isJson: boolean): Promise<string> | undefined {
    const { ids, clients } = this;
    if (ids === undefined || clients === undefined || !this.overload.hasRoom(this.maxInFlight)) return undefined;
    if (!route.canWait(ids, name)) return undefined;
    const quota = clients.tryCharge(authorization, name, size);
    return (
      quota &&
      this.overload.during(route.take(ids, name, size)).then(
        (text) => (isJson ? jsonId(text, this.jsonIds) : text),
        (refusal: unknown) => {
          quota.giveBack(size);
          throw refusal;
        },
      )
    );
  }

  /** The framework answers `request` with `refusal`. */
  refuse(request: IncomingMessage, refusal: unknown): void {
    this.refusals.set(request, refusal);
  }

  refusalOf(request: IncomingMessage): unknown {
    return this.refusals.get(request);
  }

  write(call: IdCall, isJson: boolean, body: string, response: ServerResponse): void {
    if (this.drain.active) response.shouldKeepAlive = false;
    response.writeHead(200, [...headersOf(call, isJson), 'content-length', String(body.length)]);
    response.end(body, 'latin1');
  }
}

/** The routes that {@link FastPath} answers. */
function routesOf(counts: RequestCounts): IdRoute[] {
  const batchText = new BatchText();
  const route = (path: string, canWait: IdRoute['canWait'], taking: Taking, maxSize?: number): IdRoute => ({
    ...taking,
    ...{ prefix: prefixOf(path), count: counts.of(path, 200), canWait },
    ...(maxSize !== undefined && { maxSize }),
  });
  const strict: IdRoute['canWait'] = (ids, tag) => ids.isStrict(tag);
  const snowflake: IdRoute['canWait'] = (_ids, key) => isTag(key);
  const segmentRanges = (write: (tag: string, ranges: readonly IdRange[], isStrict?: boolean) => string): Taking => ({
    tryTake: (ids, tag, size) => {
      const ranges = ids.tryRanges(tag, size);
      return ranges && write(tag, ranges);
    },
    take: async (ids, tag, size) => write(tag, await ids.nextRanges(tag, size), true),
  });
  const one: Taking = {
    tryTake: (ids, tag) => ids.tryNext(tag)?.toString(),
    take: (ids, tag) => ids.nextIdString(tag),
  };
  const oneSnowflake: Taking = {
    tryTake: (ids, key) => (isTag(key) ? ids.trySnowflakeString() : undefined),
    take: async (ids) => (await ids.snowflakeStrings(1)).join(),
  };
  const snowflakes: Taking = {
    tryTake: (ids, key, size) => {
      const range = isTag(key) ? ids.trySnowflakeRange(size) : undefined;
      return range && batchText.write('key', key, [range]);
    },
    take: async (ids, key, size) => batchText.write('key', key, await ids.snowflakeRanges(size)),
  };
  const batch = segmentRanges((tag, ranges) => batchText.write('tag', tag, ranges));
  const range = segmentRanges((tag, ranges, isStrict) => rangesText(tag, ranges, { strict: isStrict }));
  return [
    route(SEGMENT_ROUTE, strict, one),
    route(SNOWFLAKE_ROUTE, snowflake, oneSnowflake),
    route('/api/segment/batch/:tag', strict, batch, MAX_FAST_BATCH),
    route('/api/segment/range/:tag', strict, range, MAX_RANGE_SIZE),
    route('/api/snowflake/batch/:key', snowflake, snowflakes, MAX_FAST_BATCH),
  ];
}

const COMMON = Object.entries(COMMON_HEADERS).flat();
const API = [...Object.entries(API_HEADERS).flat(), 'content-type', JSON_TYPE];
const SINGLE_TEXT = [...COMMON, 'content-type', TEXT_TYPE];
const SINGLE_JSON = [...COMMON, 'content-type', JSON_TYPE];

/** Names and values of the headers of a response with IDs, but for the length of its body. */
export function headersOf({ route, nonce }: IdCall, isJson: boolean): readonly string[] {
  if (route.maxSize === undefined) return isJson ? SINGLE_JSON : SINGLE_TEXT;
  return [...API, NONCE_HEADER, nonce];
}

function prefixOf(route: string): string {
  return route.slice(0, route.lastIndexOf(':'));
}

/** 0 if it is not a plain number: the ordinary route decides then. */
function plainSize(text: string): number {
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 0;
}
