import type { LeaseHolder } from '@leaf/core';
import type { StoredRecord, Write } from '../stored-record';
import { ownRecord } from './own-record';
import { SimRegistry, type Token } from './sim-registry';

/**
 * A node for each `ip:port` that holds nothing but its ceiling: odd after an acquisition, even after an extension. One
 * version further with an even ceiling can only be one's own extension.
 */
export class ZkNormalRegistry extends SimRegistry {
  readonly description = 'zk_normal (simulated)';

  protected candidates(holder: LeaseHolder): Promise<readonly StoredRecord[]> {
    return ownRecord(this.client, holder);
  }

  protected unchangedSince({ version }: { readonly version: number }): Write['compare'] {
    return (found) => found.version === version;
  }

  protected heldSince(token: Token): Write['compare'] {
    return this.unchangedSince(token);
  }

  protected isOurs(found: StoredRecord, { version, pending }: Token): boolean {
    return found.version === version + 1 && pending.includes(found.ceiling);
  }

  protected override acquisition(wanted: number): number {
    return wanted % 2 === 0 ? wanted + 1 : wanted;
  }

  protected override extension(wanted: number): number {
    return wanted % 2 === 0 ? wanted : wanted + 1;
  }
}
