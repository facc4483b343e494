import type { IdRange } from '@leaf-ids/core';
import { assertTag } from '@leaf-ids/core/internal';
import { readBatch, readRanges } from './http/answers';
import type { PrefetchContext } from './prefetch/prefetch-context';
import { SNOWFLAKE_KEY } from './prefetch/snowflake-buffer';
import { RequestPolicy } from './servers/request-policy';
import { singleRequest } from './single-request';

/** IDs without prefetch: each call sends one request, whose IDs are for this call alone. */
export class DirectRequests {
  constructor(private readonly context: PrefetchContext) {}

  /** @throws LeafError the refusal of the servers; `LEAF_SERVERS_UNAVAILABLE`, `LEAF_OVERLOADED`, `LEAF_TAG_INVALID` */
  async ranges(tag: string, count: number): Promise<readonly IdRange[]> {
    assertTag(tag);
    const path = `/api/segment/range/${tag}?size=${count}`;
    const { ranges } = await this.get(tag, path, (body) => readRanges(body, tag, count));
    return ranges;
  }

  /** @throws LeafError as {@link ranges} */
  snowflakes(count: number): Promise<string[]> {
    const path = `/api/snowflake/batch/${SNOWFLAKE_KEY}?size=${count}`;
    return this.get(undefined, path, (body) => readBatch(body, SNOWFLAKE_KEY, count));
  }

  private get<T>(key: string | undefined, path: string, read: (body: unknown) => T): Promise<T> {
    const { requester, clock } = this.context;
    return singleRequest(this.context, () => requester.get(new RequestPolicy(key, clock), path, read));
  }
}
