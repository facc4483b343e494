import { LeafError } from '@leaf/core';
import type { SeededRandom } from '../seeded-random';
import type { StoredRecord, Write } from '../stored-record';
import { SimRegistry, type Token } from './sim-registry';
import type { StoreClient } from './store-client';

/** A pool: whoever comes takes a free record, and a job frees those whose ceiling has passed. */
export class ZkRecycleRegistry extends SimRegistry {
  readonly description = 'zk_recycle (simulated)';

  constructor(
    client: StoreClient,
    private readonly random: SeededRandom,
  ) {
    super(client);
  }

  /** Frees the records whose ceiling lies more than `marginMs` before `now`, as this process sees it. */
  async reclaim(now: number, marginMs: number): Promise<void> {
    for (const found of await this.client.list()) {
      if (!found.inUse || found.ceiling + marginMs >= now) continue;
      await this.write('reclaim', found, 'reclaim job', this.unchangedSince(found), {
        leaseId: undefined,
        inUse: false,
        ...this.reclaimed(),
      });
    }
  }

  /** What else freeing a record changes: nothing, its ceiling stays. */
  protected reclaimed(): Write['change'] {
    return {};
  }

  protected async candidates(): Promise<readonly StoredRecord[]> {
    const free = (await this.client.list()).filter(({ inUse }) => !inUse).sort((a, b) => a.ceiling - b.ceiling);
    if (free.length === 0) throw new LeafError('LEAF_WORKER_HELD', 'Every worker ID of the pool is in use.');
    const first = this.random.below(free.length);
    return [...free.slice(first), ...free.slice(0, first)];
  }

  protected unchangedSince({ version }: { readonly version: number }): Write['compare'] {
    return (found) => found.version === version;
  }

  protected heldSince(token: Token): Write['compare'] {
    return this.unchangedSince(token);
  }

  protected isOurs(found: StoredRecord, { leaseId, pending }: Token): boolean {
    return found.leaseId === leaseId && pending.includes(found.ceiling);
  }
}
