import type { LeafError } from '../errors/leaf-error';
import type { IdRange } from './id-range';
import type { TagSource } from './tag-source';

/** Tags that are gone, some with an allocation still under way: their IDs stay counted. */
export class RetiringTags {
  private readonly running = new Set<TagSource>();
  private issuedBefore = 0;

  /** IDs handed out by all of them. */
  get issued(): number {
    let sum = this.issuedBefore;
    for (const source of this.running) sum += source.issued;
    return sum;
  }

  /** @returns what was not issued, newest range first, once nothing is under way */
  async retire(source: TagSource, reason: () => LeafError): Promise<IdRange[]> {
    this.running.add(source);
    const rest = await source.retire(reason);
    this.running.delete(source);
    this.issuedBefore += source.issued;
    return rest;
  }
}
