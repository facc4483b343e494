import type { DoubleBufferSnapshot, TagSource } from '../allocation/tag-source';
import type { IdRange } from '../tags/id-range';
import { gaplessTag } from '../tags/tag-refusals';

/** A tag that gives numbers to documents, by `Numbers`: calls for plain IDs are refused. */
export class GaplessTag implements TagSource {
  readonly order = 'gapless';
  readonly issued = 0;
  readonly highest = 0n;
  readonly buffered = 0;
  readonly revision = 0;
  readonly step = 0;
  listed = 0;

  constructor(readonly tag: string) {}

  tryNext(): undefined {
    return undefined;
  }

  tryNextNumber(): undefined {
    return undefined;
  }

  tryRanges(): undefined {
    return undefined;
  }

  /** @throws LeafError `LEAF_TAG_GAPLESS` */
  take(): Promise<bigint> {
    return Promise.reject(gaplessTag(this.tag));
  }

  /** @throws LeafError `LEAF_TAG_GAPLESS` */
  takeRanges(): Promise<IdRange[]> {
    return Promise.reject(gaplessTag(this.tag));
  }

  preload(): Promise<void> {
    return Promise.resolve();
  }

  retire(): Promise<IdRange[]> {
    return Promise.resolve([]);
  }

  snapshot(): DoubleBufferSnapshot {
    return {
      ...{ tag: this.tag, order: this.order, issued: 0, buffered: 0, current: undefined, next: undefined, spare: [] },
      ...{ loading: false, step: 0, databaseStep: 0, loads: 0, failures: 0, retries: 0, backwards: 0 },
      ...{ lastLoadMs: undefined, lastLoadAt: undefined, lastError: undefined },
    };
  }
}
