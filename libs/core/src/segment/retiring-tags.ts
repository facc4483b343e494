import type { LeafError } from '../errors/leaf-error';
import type { IdRange } from './id-range';
import type { TagSource } from './tag-source';

/** Removed tags, possibly with an allocation in progress. Their issued IDs stay counted. */
export class RetiringTags {
  private readonly running = new Set<TagSource>();
  private issuedBefore = 0;

  /** Number of IDs issued by all removed tags. */
  get issued(): number {
    let sum = this.issuedBefore;
    for (const source of this.running) sum += source.issued;
    return sum;
  }

  /** @returns the unissued ranges, newest first, once no allocation is in progress */
  async retire(source: TagSource, reason: () => LeafError): Promise<IdRange[]> {
    this.running.add(source);
    const rest = await source.retire(reason);
    this.running.delete(source);
    this.issuedBefore += source.issued;
    return rest;
  }
}
