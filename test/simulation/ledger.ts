import type { BitLayout } from '@leaf/core';
import { sinceStart, START } from './conditions';
import type { StoredRecord, Write } from './stored-record';

/** What can be broken: a pair used twice, a ceiling lowered by a stranger, an ID above its recorded ceiling, … */
export type Breach = 'pair' | 'fall' | 'ceiling' | 'floor' | 'order' | 'worker' | 'error';

export interface Failure {
  readonly breach: Breach;
  readonly message: string;
}

/** Who issues: one process from start to end. */
export interface Issuer {
  readonly name: string;
  readonly leaseId: string;
  readonly workerId: number;
}

/** The books of all that was issued and recorded. They see every ID and every write that was applied. */
export class Ledger {
  failure: Failure | undefined;
  private readonly owners = new Map<number, Issuer>();
  private readonly highest = new Map<number, number>();
  private readonly ceilings = new Map<number, number>();
  /** Lease IDs of the last acquisitions. */
  private readonly holders = new Map<number, string>();
  /** The ceilings that acquisitions replaced, by lease ID. */
  private readonly floors = new Map<string, number>();

  /** @param until breaches of other kinds are let pass, to see what they lead to */
  constructor(
    readonly layout: BitLayout,
    private readonly until: Breach | undefined,
  ) {}

  breach(breach: Breach, message: string): void {
    if (this.until !== undefined && this.until !== breach) return;
    this.failure ??= { breach, message };
  }

  /** `issuer` issued `id`, and issues no other with this timestamp unless it is above. */
  opened(issuer: Issuer, id: bigint): void {
    const { timestamp, workerId } = this.layout.decompose(id);
    // Put into words only when something is wrong: this is called for every millisecond.
    const what = (): string => `worker ${workerId} at ${sinceStart(timestamp)}, issued by ${issuer.name}`;
    if (workerId !== issuer.workerId) this.breach('worker', `${what()}, which holds worker ${issuer.workerId}`);
    const key = (timestamp - START) * (this.layout.maxWorkerId + 1) + workerId;
    const owner = this.owners.get(key);
    if (owner === undefined) this.owners.set(key, issuer);
    else if (owner !== issuer) this.breach('pair', `${what()}, was issued by ${owner.name} before`);
    const ceiling = this.ceilings.get(workerId) ?? 0;
    if (timestamp > ceiling) this.breach('ceiling', `${what()}, is above the recorded ${sinceStart(ceiling)}`);
    const floor = this.floors.get(issuer.leaseId) ?? Infinity;
    if (timestamp <= floor) this.breach('floor', `${what()}, is not above the ${sinceStart(floor)} it found`);
    if (timestamp > (this.highest.get(workerId) ?? 0)) this.highest.set(workerId, timestamp);
  }

  written({ kind, leaseId }: Write, before: StoredRecord, after: StoredRecord): void {
    const { workerId, ceiling } = after;
    const what = (): string =>
      `${kind} of ${leaseId}: the ceiling of worker ${workerId} falls to ${sinceStart(ceiling)}`;
    if (ceiling < before.ceiling && (kind !== 'release' || this.holders.get(workerId) !== leaseId)) {
      this.breach('fall', `${what()} from ${sinceStart(before.ceiling)}, by nobody's own release`);
    }
    const highest = this.highest.get(workerId) ?? 0;
    if (ceiling < highest) this.breach('ceiling', `${what()}, below the ${sinceStart(highest)} that was issued`);
    this.ceilings.set(workerId, ceiling);
    if (kind === 'acquire') {
      this.holders.set(workerId, leaseId);
      this.floors.set(leaseId, before.ceiling);
    }
  }
}
