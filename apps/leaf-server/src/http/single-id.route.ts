import type { IncomingMessage, ServerResponse } from 'node:http';
import { type IdService, isTag } from '@leaf/core';
import type { Drain } from '../health/drain';
import type { RequestCount, RequestCounts } from '../metrics/request-counts';
import { COMMON_HEADERS } from './problem';

export const SEGMENT_ROUTE = '/api/segment/get/:tag';
export const SNOWFLAKE_ROUTE = '/api/snowflake/get/:key';
export const TEXT_TYPE = 'text/plain; charset=utf-8';

const SEGMENT_PREFIX = SEGMENT_ROUTE.slice(0, SEGMENT_ROUTE.lastIndexOf(':'));
const SNOWFLAKE_PREFIX = SNOWFLAKE_ROUTE.slice(0, SNOWFLAKE_ROUTE.lastIndexOf(':'));
/** Decimal digits of the largest ID. */
const MAX_DIGITS = 19;

/**
 * Answers a single ID ahead of the framework, when one is at hand: a plain GET, a tag that needs no decoding, an ID in
 * memory. Everything else, every error included, is left to the ordinary routes, which answer the same.
 */
export class SingleIdRoute {
  private ids: IdService | undefined;
  private readonly segmentCount: RequestCount;
  private readonly snowflakeCount: RequestCount;
  private readonly headers = Array.from({ length: MAX_DIGITS + 1 }, (_, digits) => [
    ...Object.entries(COMMON_HEADERS).flat(),
    ...['content-type', TEXT_TYPE],
    ...['content-length', String(digits)],
  ]);

  constructor(
    private readonly counts: RequestCounts,
    private readonly drain: Drain,
  ) {
    this.segmentCount = counts.of(SEGMENT_ROUTE, 200);
    this.snowflakeCount = counts.of(SNOWFLAKE_ROUTE, 200);
  }

  /** From now on requests are answered from `ids`. */
  serve(ids: IdService): void {
    this.ids = ids;
  }

  /** @returns whether the request was answered */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    const { ids } = this;
    if (ids === undefined || request.method !== 'GET' || this.drain.active) return false;
    const begunAt = this.counts.begin();
    const url = request.url as string;
    if (url.startsWith(SNOWFLAKE_PREFIX)) {
      if (!isTag(url.slice(SNOWFLAKE_PREFIX.length))) return false;
      return this.send(ids.trySnowflakeString(), response, this.snowflakeCount, begunAt);
    }
    if (url.startsWith(SEGMENT_PREFIX)) {
      const id = ids.tryNext(url.slice(SEGMENT_PREFIX.length));
      return id !== undefined && this.send(String(id), response, this.segmentCount, begunAt);
    }
    return false;
  }

  private send(id: string | undefined, response: ServerResponse, count: RequestCount, begunAt: number): boolean {
    if (id === undefined) return false;
    response.writeHead(200, this.headers[id.length]);
    response.end(id);
    this.counts.end(count, begunAt);
    return true;
  }
}
