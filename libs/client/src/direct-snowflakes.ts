import { LeafError } from '@leaf-ids/core';
import type { DirectRequests } from './direct-requests';
import type { PrefetchView } from './prefetch/prefetch-buffer';
import { LoadRecord } from './prefetch/load-record';
import type { SnowflakeSource } from './snowflake-source';

/** Snowflake IDs without prefetch: each call that waits sends one request, and the others have no ID. */
export class DirectSnowflakes implements SnowflakeSource {
  constructor(private readonly requests: DirectRequests) {}

  next(): string {
    throw new LeafError(
      'LEAF_NOT_READY',
      'Prefetch is disabled, so no snowflake ID is buffered. Await snowflakes(1), or enable prefetch.',
    );
  }

  nextBigint(): bigint {
    return BigInt(this.next());
  }

  tryNext(): string | undefined {
    return undefined;
  }

  take(count: number): Promise<string[]> {
    return this.requests.snowflakes(count);
  }

  async takeBigints(count: number): Promise<bigint[]> {
    return (await this.take(count)).map(BigInt);
  }

  fill(): Promise<void> {
    return Promise.resolve();
  }

  close(): number {
    return 0;
  }

  snapshot(): PrefetchView {
    return { buffered: 0, size: 0, loading: false, ...new LoadRecord().view };
  }
}
