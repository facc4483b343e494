import type { LeaseHolder } from '@leaf/core';
import type { StoredRecord, Write } from '../stored-record';
import { ownRecord } from './own-record';
import { SimRegistry, type Token } from './sim-registry';

/** A row for each `ip:port`; the old ceiling is the version, and a lease ID tells twins apart. */
export class SqlRegistry extends SimRegistry {
  readonly description = 'sql (simulated)';

  protected candidates(holder: LeaseHolder): Promise<readonly StoredRecord[]> {
    return ownRecord(this.client, holder);
  }

  protected unchangedSince({ ceiling }: StoredRecord): Write['compare'] {
    return (found) => found.ceiling === ceiling;
  }

  protected heldSince({ ceiling, leaseId }: Token): Write['compare'] {
    return (found) => found.ceiling === ceiling && found.leaseId === leaseId;
  }

  protected isOurs(found: StoredRecord, { leaseId, pending }: Token): boolean {
    return found.leaseId === leaseId && pending.includes(found.ceiling);
  }
}
