import type { StoredWorker } from '@leaf-ids/core';
import type { FileRecord } from '@leaf-ids/core/internal';
import { sinceStart, START } from './conditions';
import { type ApartFloor, type ExcuseCounts, excuseOf, noExcuses, type Piece } from './excuses';
import { describeIssuer, goesOn, type Issuer } from './issuer';

/**
 * Kinds of breaches. Safety: an ID twice, the times of two holders overlapping, a ceiling lowered by a stranger, an ID
 * above its ceiling, at or below its floor, out of order, a record freed though it was extended. Liveness: a lease lost
 * for good, a server that does not issue, a ceiling that stays too high, a newcomer that waits instead of giving way to
 * a live twin, a record that nobody frees.
 */
export type Breach =
  | 'duplicate'
  | 'overlap'
  | 'fall'
  | 'ceiling'
  | 'floor'
  | 'order'
  | 'reclaim'
  | 'lost'
  | 'outage'
  | 'high ceiling'
  | 'waits beside a twin'
  | 'abandoned'
  | 'error';

export interface Failure {
  readonly breach: Breach;
  readonly message: string;
}

/** The IDs that were given out in one millisecond, without their timestamp. */
interface Given extends Piece {
  readonly from: number;
  readonly to: number;
}

interface Span extends Piece {
  min: number;
  max: number;
}

/** Checks every ID that is issued and every write that is applied. */
export class Ledger {
  failure: Failure | undefined;
  readonly excused: ExcuseCounts = noExcuses();
  /** Floors that were written while clocks were further apart than allowed. */
  readonly apartFloors: ApartFloor[] = [];
  readonly issuers = new Set<Issuer>();
  private readonly given = new Map<number, Given[]>();
  private readonly spans = new Map<number, Span[]>();
  /** Ceilings that were recorded, by lease and worker: in the registry, and in the file. */
  private readonly replaced = new Map<string, number>();
  private readonly recorded = new Map<string, number>();
  private readonly filed = new Map<string, number>();
  /** Number of the newest write, by lease and worker. */
  private readonly newestWrites = new Map<string, number>();
  private readonly highest = new Map<string, number>();

  /**
   * @param until breaches of other kinds do not end the run, so that their consequences show
   * @param goesByFile a server that starts from its file knows what those before it on its host have issued, and may
   *   lower what they had reserved beyond
   */
  constructor(
    private readonly until: readonly Breach[] | undefined,
    private readonly goesByFile: boolean,
  ) {}

  breach(breach: Breach, message: string): void {
    if (this.until?.includes(breach) === false) return;
    this.failure ??= { breach, message };
  }

  /** `issuer` gave out the IDs `from` to `to`, which carry `timestamp`. */
  issued(issuer: Issuer, timestamp: number, from: number, to: number): void {
    const key = keyOf(issuer.kind === 'client' ? issuer.leaseId : issuer.name, issuer.workerId);
    // Described only on a breach.
    const what = (): string => `${describeIssuer(issuer)} issued at ${sinceStart(timestamp)}`;
    this.issuers.add(issuer);
    issuer.newest = Math.max(issuer.newest, timestamp);
    const { kind, exposure } = issuer;
    const ceiling = kind === 'java' ? Infinity : Math.max(this.recorded.get(key) ?? 0, this.filed.get(key) ?? 0);
    if (timestamp > ceiling) this.breach('ceiling', `${what()}, above the recorded ${sinceStart(ceiling)}`);
    if (timestamp <= issuer.floor) this.breach('floor', `${what()}, not above the floor ${sinceStart(issuer.floor)}`);
    if (timestamp > (this.highest.get(key) ?? 0)) this.highest.set(key, timestamp);
    this.compare(issuer, timestamp, { from, to, issuer, exposure });
    this.overlap(issuer, timestamp);
  }

  /** The ceiling of somebody else that a process has replaced: it may never fall below that. */
  replacedBy(name: string, workerId: number): number {
    return this.replaced.get(keyOf(name, workerId)) ?? 0;
  }

  /** The process `copy` has the memory of `name`. */
  copied(name: string, copy: string, workerId: number): void {
    const [from, to] = [keyOf(name, workerId), keyOf(copy, workerId)];
    for (const known of [this.recorded, this.filed, this.highest, this.replaced, this.newestWrites]) {
      const value = known.get(from);
      if (value !== undefined) known.set(to, value);
    }
  }

  /**
   * A process has written the record of its own worker.
   *
   * @param isLate it was sent before the registry was emptied
   */
  wrote(name: string, before: StoredWorker | undefined, { workerId, record }: StoredWorker, isLate: boolean): void {
    const { leaseId, write, ceiling } = record;
    const key = keyOf(name, workerId);
    const newestWrite = this.newestWrites.get(key) ?? 0;
    // The registry has lost the newer writes. Newcomers issue above its floor, whatever this record says.
    if (isLate && write < newestWrite) return;
    this.newestWrites.set(key, Math.max(newestWrite, write));
    const what = (): string => `${leaseId} records ${sinceStart(ceiling)} for worker ${workerId}`;
    if (
      before !== undefined &&
      ceiling < before.record.ceiling &&
      before.record.leaseId !== leaseId &&
      !this.goesByFile
    ) {
      this.breach('fall', `${what()}, below the ${sinceStart(before.record.ceiling)} of ${before.record.leaseId}`);
    }
    if (before !== undefined && before.record.leaseId !== leaseId) this.replaced.set(key, before.record.ceiling);
    const highest = this.highest.get(key) ?? 0;
    // A reclaim keeps the ceiling. After lost history the ceiling may be too low; the floor covers that.
    const isReclaimed = before?.record.ceiling === ceiling && before.record.write === record.write;
    if (!isReclaimed && Math.max(ceiling, this.filed.get(key) ?? 0) < highest) {
      this.breach('ceiling', `${what()}, below the ${sinceStart(highest)} that it issued`);
    }
    this.recorded.set(key, ceiling);
  }

  /**
   * A server has written the record of a window: only a release may lower its end.
   *
   * @param isAfterLoss a server may have registered an earlier end than another one has recorded
   */
  wroteWindow(before: StoredWorker | undefined, { workerId, record }: StoredWorker, isAfterLoss: boolean): void {
    const { leaseId = '', ceiling, free } = record;
    const key = keyOf(leaseId, workerId);
    const highest = this.highest.get(key) ?? 0;
    const what = (): string => `${leaseId} records ${sinceStart(ceiling)} for worker ${workerId}`;
    if (before !== undefined && ceiling < before.record.ceiling && !(free && before.record.leaseId === leaseId)) {
      this.breach('fall', `${what()}, below the ${sinceStart(before.record.ceiling)} of ${before.record.leaseId}`);
    }
    if (!isAfterLoss && ceiling < highest) {
      this.breach('ceiling', `${what()}, below the ${sinceStart(highest)} that it issued`);
    }
    this.recorded.set(key, isAfterLoss ? Math.max(ceiling, this.recorded.get(key) ?? 0) : ceiling);
  }

  wroteFile(name: string, { workerId, ceiling }: FileRecord): void {
    this.filed.set(keyOf(name, workerId), ceiling);
  }

  /** The newest timestamp of a process; 0 before the first. */
  highestOf(name: string, workerId: number): number {
    return this.highest.get(keyOf(name, workerId)) ?? 0;
  }

  private compare(issuer: Issuer, timestamp: number, given: Given): void {
    const key = timestamp - START;
    const others = this.given.get(key);
    if (others === undefined) {
      this.given.set(key, [given]);
      return;
    }
    const isShared = (other: Issuer): boolean => other !== issuer && !goesOn(issuer, other, timestamp);
    const same = others.find(
      ({ from, to, issuer: other }) =>
        (from <= given.to && to >= given.from) || (other.workerId === issuer.workerId && isShared(other)),
    );
    if (same !== undefined) {
      const what = `${describeIssuer(issuer)} at ${sinceStart(timestamp)} repeats an ID of ${describeIssuer(same.issuer)}`;
      this.clash('duplicate', given, same, timestamp, what);
    }
    others.push(given);
  }

  private overlap(issuer: Issuer, timestamp: number): void {
    let spans = this.spans.get(issuer.workerId);
    if (spans === undefined) this.spans.set(issuer.workerId, (spans = []));
    const { exposure } = issuer;
    let own = spans.find((span) => span.issuer === issuer && span.exposure === exposure);
    if (own === undefined) spans.push((own = { issuer, exposure, min: timestamp, max: timestamp }));
    own.min = Math.min(own.min, timestamp);
    own.max = Math.max(own.max, timestamp);
    for (const span of spans) {
      const { issuer: other, min, max } = span;
      if (other === issuer || min > own.max || max < own.min) continue;
      if (max === own.min && goesOn(issuer, other, max)) continue;
      const range = `${sinceStart(min)} to ${sinceStart(max)}`;
      const what = `${describeIssuer(issuer)} at ${sinceStart(timestamp)} is among those of ${describeIssuer(other)}, ${range}`;
      this.clash('overlap', own, span, Math.max(min, own.min), what);
    }
  }

  /** @param from Unix milliseconds: the first timestamp that both may have used */
  private clash(breach: Breach, a: Piece, b: Piece, from: number, what: string): void {
    if (this.failure !== undefined) return;
    const excuse = excuseOf(a, b, from, this.apartFloors);
    if (excuse === undefined) this.breach(breach, what);
    else this.excused[excuse]++;
  }
}

function keyOf(name: string, workerId: number): string {
  return `${name} ${workerId}`;
}
