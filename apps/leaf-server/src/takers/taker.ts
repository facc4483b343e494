import { type Clock, LeafError } from '@leaf-ids/core';
import { ANY, type TakerRule } from '../config/taker-quotas';
import { IdQuota } from './id-quota';

/** A program that takes IDs, by the name of its token, whatever the token is. */
export class Taker {
  /** Set by an operator. */
  blocked = false;
  private readonly quotas: ReadonlyMap<string, IdQuota>;

  constructor(
    readonly name: string,
    { tags, idsPerSecond = Infinity }: TakerRule,
    clock: Clock,
  ) {
    this.quotas = new Map(tags.map((tag) => [tag, new IdQuota(idsPerSecond, clock)]));
  }

  /** The quota of a tag or snowflake key; undefined if the taker may not use it. */
  quotaOf(tag: string): IdQuota | undefined {
    return this.quotas.get(tag) ?? this.quotas.get(ANY);
  }

  /**
   * Charges the quota of `tag` for `count` IDs.
   *
   * @throws LeafError `LEAF_FORBIDDEN`, `LEAF_QUOTA_EXCEEDED`
   */
  charge(tag: string, count: number): IdQuota {
    const { name } = this;
    const quota = this.quotaOf(tag);
    if (quota === undefined) {
      throw new LeafError(
        'LEAF_FORBIDDEN',
        `"${name}" may not take IDs of this tag. LEAF_TAKER_QUOTAS lists its tags.`,
      );
    }
    if (quota.take(count)) return quota;
    const most = quota.maxCount;
    if (count > most) {
      throw new LeafError('LEAF_QUOTA_EXCEEDED', `The quota of "${name}" allows at most ${most} IDs in one call.`);
    }
    const retryAfterMs = Math.ceil(quota.waitMs());
    throw new LeafError(
      'LEAF_QUOTA_EXCEEDED',
      `"${name}" has used up its quota of this tag. The quota grants the next ID in ${retryAfterMs} ms.`,
      { retryAfterMs },
    );
  }
}
