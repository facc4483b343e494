import { LeafError, type PeriodRanges } from '@leaf-ids/core';
import { assertTag } from '@leaf-ids/core/internal';
import { readPeriod } from './http/answers';
import type { PrefetchContext } from './prefetch/prefetch-context';
import { DuplicateDetector, rangesOverlap } from './prefetch/prefetch-buffer';
import { RequestPolicy } from './servers/request-policy';
import { ServerFault } from './servers/server-health';
import { singleRequest } from './direct-requests';

/** Maximum number of tags to remember; the least recently used ones are forgotten. */
const MAX_TAGS = 10_000;

interface PeriodicTag {
  readonly policy: RequestPolicy;
  readonly duplicates: DuplicateDetector<PeriodRanges>;
}

/** Numbers of tags that restart in each period; one request per call. */
export class PeriodRequests {
  private readonly tags = new Map<string, PeriodicTag>();

  constructor(private readonly context: PrefetchContext) {}

  /**
   * @throws LeafError the refusal of the servers; `LEAF_SERVERS_UNAVAILABLE`, `LEAF_OVERLOADED`, `LEAF_PERIOD_INVALID`
   */
  async take(tag: string, count: number, at: Date | undefined): Promise<PeriodRanges> {
    assertTag(tag);
    const { requester } = this.context;
    const { policy, duplicates } = this.open(tag);
    const path = `/api/segment/period/${tag}?size=${count}${at === undefined ? '' : `&at=${encodeURIComponent(textOf(at))}`}`;
    return singleRequest(this.context, () =>
      requester.get(policy, path, (body) => readNew(body, tag, count, duplicates)),
    );
  }

  private open(tag: string): PeriodicTag {
    const known = this.tags.get(tag);
    const periodic = known ?? {
      policy: new RequestPolicy(tag, this.context.clock),
      duplicates: new DuplicateDetector((a, b) => a.period === b.period && rangesOverlap(a.ranges, b.ranges)),
    };
    this.tags.delete(tag);
    this.tags.set(tag, periodic);
    const [oldest = tag] = this.tags.keys();
    if (this.tags.size > MAX_TAGS) this.tags.delete(oldest);
    return periodic;
  }
}

function readNew(body: unknown, tag: string, count: number, duplicates: PeriodicTag['duplicates']): PeriodRanges {
  const read = readPeriod(body, tag, count);
  if (duplicates.isDuplicate(read)) {
    throw new ServerFault(
      `it repeated numbers of tag "${tag}": a proxy caches responses, or the servers do not share one database`,
    );
  }
  duplicates.add(read);
  return read;
}

function textOf(at: Date): string {
  if (!Number.isNaN(at.getTime())) return at.toISOString();
  throw new LeafError('LEAF_PERIOD_INVALID', 'The date of the period is invalid. Pass a valid Date.');
}
