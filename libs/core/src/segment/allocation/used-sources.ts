import type { LeafError } from '../../errors/leaf-error';
import type { IdRange } from '../tags/id-range';
import type { TagSource } from './tag-source';

/** The sources that have asked the store for IDs, and the number of IDs issued by them and by those that ended. */
export class UsedSources {
  private readonly sources = new Set<TagSource>();
  private issuedBefore = 0;

  /** Call this before each load of `source`: before its first load, a source cannot have issued IDs. */
  add(source: TagSource): void {
    this.sources.add(source);
  }

  /** @param onUsed receives each source that has issued IDs and has not ended */
  countIssued(onUsed?: (source: TagSource) => void): number {
    let sum = this.issuedBefore;
    for (const source of this.sources) {
      const { issued } = source;
      sum += issued;
      if (onUsed !== undefined && issued > 0) onUsed(source);
    }
    return sum;
  }

  /** Ends a source; its IDs stay counted. @returns the unissued ranges, newest first, once no allocation is in progress */
  async retire(source: TagSource, reason: () => LeafError): Promise<IdRange[]> {
    const rest = await source.retire(reason);
    if (this.sources.delete(source)) this.issuedBefore += source.issued;
    return rest;
  }
}
