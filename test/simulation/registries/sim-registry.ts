import { LeafError, WorkerRegistry, type CeilingProposal, type LeaseHolder, type WorkerClaim } from '@leaf/core';
import type { StoredRecord, Write } from '../stored-record';
import type { StoreClient } from './store-client';

/** What a claim's holder knows of its record. */
export interface Token {
  readonly leaseId: string;
  readonly version: number;
  readonly ceiling: number;
  /** Ceilings of extensions from this version whose outcome is unknown. */
  readonly pending: number[];
}

/** What the protocols share: read, compare and set; what went unanswered is read back. */
export abstract class SimRegistry extends WorkerRegistry {
  abstract override readonly description: string;

  constructor(protected readonly client: StoreClient) {
    super();
  }

  async acquire(holder: LeaseHolder, propose: CeilingProposal): Promise<WorkerClaim> {
    const { leaseId } = holder;
    for (;;) {
      for (const found of await this.candidates(holder)) {
        const ceiling = this.acquisition(propose(found.ceiling));
        const applied = await this.write('acquire', found, leaseId, this.unchangedSince(found), {
          ceiling,
          leaseId,
          inUse: true,
        });
        if (applied) return claimOf(found, found.ceiling, leaseId, ceiling);
      }
    }
  }

  async extend(claim: WorkerClaim, wanted: number): Promise<WorkerClaim> {
    const token = tokenOf(claim);
    const ceiling = this.extension(wanted);
    token.pending.push(ceiling);
    if (await this.write('extend', claim, token.leaseId, this.heldSince(token), { ceiling })) {
      return claimOf({ ...claim, version: token.version }, claim.previousCeiling, token.leaseId, ceiling);
    }
    const adopted = await this.readBack(claim);
    return adopted.ceiling >= wanted ? adopted : this.extend(adopted, wanted);
  }

  async release(claim: WorkerClaim, ceiling: number): Promise<void> {
    const token = tokenOf(claim);
    const change = { ceiling, leaseId: undefined, inUse: false };
    if (await this.write('release', claim, token.leaseId, this.heldSince(token), change)) return;
    await this.release(await this.readBack(claim), ceiling);
  }

  /** Records to take, the best first. */
  protected abstract candidates(holder: LeaseHolder): Promise<readonly StoredRecord[]>;
  /** The comparison of a write to a record that nobody may have written since `read`. */
  protected abstract unchangedSince(read: StoredRecord): Write['compare'];
  protected abstract heldSince(token: Token): Write['compare'];
  /** Whether `found` is what an extension of unknown outcome has left. */
  protected abstract isOurs(found: StoredRecord, token: Token): boolean;

  /** The ceiling that an acquisition records in place of `wanted`, at or above it. */
  protected acquisition(wanted: number): number {
    return wanted;
  }

  /** The ceiling that an extension records in place of `wanted`, at or above it. */
  protected extension(wanted: number): number {
    return wanted;
  }

  protected write(
    kind: Write['kind'],
    { workerId }: { readonly workerId: number },
    leaseId: string,
    compare: Write['compare'],
    change: Write['change'],
  ): Promise<boolean> {
    return this.client.write({ kind, workerId, leaseId, compare, change });
  }

  private async readBack(claim: WorkerClaim): Promise<WorkerClaim> {
    const token = tokenOf(claim);
    const found = await this.client.get(claim.workerId);
    if (!this.isOurs(found, token)) {
      throw new LeafError('LEAF_LEASE_LOST', `Somebody else has written the record of worker ${claim.workerId}.`);
    }
    const version: Token = { leaseId: token.leaseId, version: found.version, ceiling: found.ceiling, pending: [] };
    return { ...claim, ceiling: found.ceiling, version };
  }
}

/** The claim after a write to version `version`. */
function claimOf(
  { workerId, version }: { readonly workerId: number; readonly version: number },
  previousCeiling: number,
  leaseId: string,
  ceiling: number,
): WorkerClaim {
  const token: Token = { leaseId, version: version + 1, ceiling, pending: [] };
  return { workerId, previousCeiling, ceiling, version: token };
}

function tokenOf(claim: WorkerClaim): Token {
  return claim.version as Token;
}
