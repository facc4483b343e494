import {
  type Allocation,
  type AllocationRequest,
  type IdRange,
  LeafError,
  MAX_ID,
  type Period,
  periodRow,
  PLAIN_TAG,
  SegmentStore,
  type TagEntry,
  type TagKind,
  tagOfRow,
} from '@leaf-ids/core';
import { InterleavedBlocks, orRefusal, periodicTag, TagExhaustedError } from '@leaf-ids/core/internal';

export interface SegmentRow {
  maxId: bigint;
  step: number;
  kind?: TagKind;
}

export type StoreMethod = 'listTags' | 'findTag' | 'allocate' | 'giveBack' | 'raise' | 'recordDeleted' | 'beginPeriod';

export interface TaggedRange extends IdRange {
  readonly tag: string;
}

export interface GrantedRange extends TaggedRange {
  /** Whether the caller named the size, instead of leaving it to the row. */
  readonly exact: boolean;
}

/** A pending call whose outcome the test decides. */
export interface HeldCall {
  readonly method: StoreMethod;
  readonly tag: string | undefined;
  /** Executes the call without sending the result. */
  apply(): void;
  /** Executes the call if it has not been executed, and sends the result. */
  answer(): void;
  /** Rejects the call. If it has been executed, its result is lost. */
  fail(error?: Error): void;
}

interface PlannedFailure {
  readonly applied: boolean;
  readonly error: Error;
}

type Outcome<T> = { readonly value: T } | { readonly error: Error };

/**
 * A `SegmentStore` in memory. Stores with the same `rows` and `deleted` are connections to one storage. Tests can delay
 * results, fail calls before or after their execution, and modify rows directly.
 */
export class InMemorySegmentStore extends SegmentStore {
  readonly description = 'memory';
  /** Every call, in order. */
  readonly calls: { readonly method: StoreMethod; readonly tag: string | undefined }[] = [];
  /** Pending calls, oldest first. */
  readonly held: HeldCall[] = [];
  /** Ranges allocated through this connection, including those whose result was lost. */
  readonly granted: GrantedRange[] = [];
  /** Ranges of `granted` whose result has arrived. */
  readonly answered: GrantedRange[] = [];
  /** Ranges of `granted` whose result was lost. */
  readonly lost: GrantedRange[] = [];
  readonly givenBack: TaggedRange[] = [];
  /** Requests of each batch call. */
  readonly statements: (readonly AllocationRequest[])[] = [];
  /** Maximum number of concurrent allocations of one tag. */
  peak = 0;

  private holding = false;
  private readonly failures: PlannedFailure[] = [];
  private permanentFailure: PlannedFailure | undefined;
  private readonly allocating = new Map<string, number>();

  /** @param deleted next ID of each deleted tag */
  constructor(
    readonly rows = new Map<string, SegmentRow>(),
    readonly deleted = new Map<string, bigint>(),
  ) {
    super();
  }

  put(tag: string, maxId: bigint, step: number, kind: TagKind = PLAIN_TAG): void {
    this.rows.set(tag, { maxId, step, kind });
  }

  maxId(tag: string): bigint | undefined {
    return this.rows.get(tag)?.maxId;
  }

  count(method: StoreMethod): number {
    return this.calls.filter((call) => call.method === method).length;
  }

  /** Delays all new calls in `held`. */
  hold(): void {
    this.holding = true;
  }

  /** Completes the delayed calls and stops delaying. */
  release(): void {
    this.holding = false;
    for (const call of [...this.held]) call.answer();
  }

  /** The next `count` calls fail without being executed. */
  failNext(count: number, error: Error = unavailable()): void {
    for (let i = 0; i < count; i++) this.failures.push({ applied: false, error });
  }

  /** The next `count` calls are executed but fail. */
  loseAnswers(count: number): void {
    for (let i = 0; i < count; i++) this.failures.push({ applied: true, error: unavailable() });
  }

  /** Every call fails until {@link heal}. */
  breakDown(error: Error = unavailable()): void {
    this.permanentFailure = { applied: false, error };
  }

  heal(): void {
    this.permanentFailure = undefined;
    this.failures.length = 0;
  }

  /** Maximum number of IDs per allocation. */
  most = Infinity;
  /** Number of IDs that each allocation skips, as for a tag whose blocks come from several databases. */
  gap = 0n;

  listTags(): Promise<TagEntry[]> {
    return this.call('listTags', undefined, () =>
      Array.from(this.rows, ([tag, { kind = PLAIN_TAG }]) => ({ tag, kind })).filter(
        ({ tag }) => tagOfRow(tag) === tag,
      ),
    );
  }

  findTag(tag: string): Promise<TagEntry | undefined> {
    return this.call('findTag', tag, () => {
      const row = this.rows.get(tag);
      return row && { tag, kind: row.kind ?? PLAIN_TAG };
    });
  }

  async allocate(tag: string, size: number | undefined): Promise<Allocation> {
    const running = (this.allocating.get(tag) ?? 0) + 1;
    this.allocating.set(tag, running);
    this.peak = Math.max(this.peak, running);
    let range: GrantedRange | undefined;
    try {
      const answer = await this.call('allocate', tag, () => {
        const allocation = this.take(tag, size);
        range = { tag, from: allocation.from, to: allocation.to, exact: size !== undefined };
        this.granted.push(range);
        return allocation;
      });
      this.answered.push({ tag, from: answer.from, to: answer.to, exact: size !== undefined });
      return answer;
    } catch (error) {
      if (range !== undefined) this.lost.push(range);
      throw error;
    } finally {
      this.allocating.set(tag, (this.allocating.get(tag) ?? 0) - 1);
    }
  }

  override allocateAll(requests: readonly AllocationRequest[]): Promise<(Allocation | LeafError)[]> {
    this.statements.push(requests);
    return Promise.all(requests.map(({ tag, size }) => orRefusal(this.allocate(tag, size))));
  }

  giveBack(tag: string, { from, to }: IdRange): Promise<boolean> {
    return this.call('giveBack', tag, () => {
      const row = this.rows.get(tag);
      if (row?.maxId !== to + 1n) return false;
      row.maxId = from;
      this.givenBack.push({ tag, from, to });
      return true;
    });
  }

  raise(tag: string, minimum: bigint): Promise<void> {
    return this.call('raise', tag, () => {
      const row = this.rows.get(tag);
      if (row !== undefined && row.maxId < minimum) row.maxId = minimum;
    });
  }

  beginPeriod(tag: string, { reset }: TagKind, { name }: Period, least: bigint): Promise<void> {
    const row = periodRow(tag, name);
    return this.call('beginPeriod', row, () => {
      const base = this.rows.get(tag);
      if (base === undefined || base.kind?.reset !== reset)
        throw new LeafError('LEAF_TAG_NOT_FOUND', `No tag "${tag}".`);
      if (this.rows.has(row)) return;
      const maxId = [base.maxId, least, this.deleted.get(row) ?? 1n].reduce((a, b) => (a > b ? a : b));
      this.rows.set(row, { maxId, step: base.step });
    });
  }

  recordDeleted(tag: string, nextId: bigint): Promise<void> {
    return this.call('recordDeleted', tag, () => {
      if (nextId > (this.deleted.get(tag) ?? 0n)) this.deleted.set(tag, nextId);
    });
  }

  private take(tag: string, size: number | undefined): Allocation {
    const row = this.rows.get(tag);
    if (row === undefined) throw new LeafError('LEAF_TAG_NOT_FOUND', `No tag "${tag}".`);
    if (row.maxId < 1n || row.step < 1) throw new LeafError('LEAF_TAG_ROW_INVALID', `Bad row of "${tag}".`);
    if (row.kind?.reset !== undefined) throw periodicTag(tag);
    const deleted = this.deleted.get(tag) ?? 0n;
    const from = (row.maxId > deleted ? row.maxId : deleted) + this.gap;
    const after = from + BigInt(Math.min(size ?? row.step, this.most));
    if (after > MAX_ID) throw new TagExhaustedError(`"${tag}" is used up.`, MAX_ID - from);
    const { interleave } = row.kind ?? PLAIN_TAG;
    if (interleave !== undefined) {
      const blocks = new InterleavedBlocks(interleave);
      const run = blocks.run(blocks.atPosition(from), Math.ceil((size ?? 1) / interleave.block));
      const [first, ...more] = run.map(({ range }) => range);
      row.maxId = run.at(-1)?.end ?? from;
      return { ...(first ?? { from, to: from }), step: row.step, more };
    }
    row.maxId = after;
    return { from, to: after - 1n, step: row.step };
  }

  private call<T>(method: StoreMethod, tag: string | undefined, action: () => T): Promise<T> {
    this.calls.push({ method, tag });
    return new Promise<T>((resolve, reject) => {
      let outcome: Outcome<T> | undefined;
      const apply = (): Outcome<T> => (outcome ??= attempt(action));
      const leave = (): void => {
        const index = this.held.indexOf(call);
        if (index >= 0) this.held.splice(index, 1);
      };
      const call: HeldCall = {
        method,
        tag,
        apply: () => void apply(),
        answer: () => {
          leave();
          const result = apply();
          if ('value' in result) resolve(result.value);
          else reject(result.error);
        },
        fail: (error = unavailable()) => {
          leave();
          reject(error);
        },
      };
      this.admit(call);
    });
  }

  private admit(call: HeldCall): void {
    const failure = this.permanentFailure ?? this.failures.shift();
    if (failure !== undefined) {
      if (failure.applied) call.apply();
      call.fail(failure.error);
    } else if (this.holding) {
      this.held.push(call);
    } else {
      call.answer();
    }
  }
}

function attempt<T>(action: () => T): Outcome<T> {
  try {
    return { value: action() };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}

function unavailable(): LeafError {
  return new LeafError('LEAF_STORE_UNAVAILABLE', 'The memory does not answer.', { retryAfterMs: 1000 });
}
