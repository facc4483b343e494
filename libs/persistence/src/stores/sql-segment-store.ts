import {
  type Allocation,
  type AllocationRequest,
  type IdRange,
  type Interleave,
  LeafError,
  MAX_ID,
  type Period,
  periodRow,
  SegmentStore,
  type TagEntry,
  type TagKind,
} from '@leaf-ids/core';
import { InterleavedBlocks, invalidPeriod, MAX_BLOCKS, orRefusal, unknownTag } from '@leaf-ids/core/internal';
import type { FailoverGuard } from '../failover/failover-guard';
import type { SqlDatabase, SqlParameter, SqlStatement } from '../connections/sql-database';
import { HAS_POSITION, POSITION, setPosition } from '../failover/move-forward';
import { type AllocRow, changedMeanwhile, exhausted, isExhausted, isUsable, readRows, refusalOf } from './alloc-row';
import { isBeyondLimit, needsAdmission, TagHistory } from './tag-history';
import { insertPeriod, sameForCollation } from './period-statement';
import { AllocReads } from './tag-reads';
import { type LeafAlloc, positionOf, KIND_NAMES, kindOf, shareCondition } from './stored-tag';
import { notIssuedAbove, type TagDialect } from './tag-dialect';

interface PeriodicRow {
  readonly reset_every: string | null;
  readonly time_zone: string | null;
  /** Unix seconds. */
  readonly now: number | string;
}

/** The row of a tag after an allocation. */
export interface Allocated {
  readonly max_id: string;
  readonly step: number;
  readonly max_step: number | null;
}

/** Attempts to allocate while other servers compete for the row. */
const ATTEMPTS = 20;

/** Rows per query when listing tags: few enough that parsing them does not block requests. */
const PAGE = 250;

/** The columns of the directory of tags. */
const ENTRY = ['biz_tag', ...KIND_NAMES] as const;
type EntryRow = Pick<LeafAlloc, (typeof ENTRY)[number]>;

/** The common part of the segment stores on SQL databases; each dialect adds its statements. */
export abstract class SqlSegmentStore extends SegmentStore {
  /** The interleaved tags of this database, as last read. */
  private readonly interleaved = new Map<string, Interleave>();

  private readonly directory: AllocReads<keyof EntryRow>;
  private readonly history: TagHistory;

  /**
   * @param tags the statements of the database
   * @param guard detects a database that lacks the newest allocations
   */
  constructor(
    protected readonly database: SqlDatabase,
    protected readonly guard: FailoverGuard,
    protected readonly tags: TagDialect,
  ) {
    super();
    this.directory = new AllocReads(database, tags, ENTRY);
    this.history = new TagHistory(database, tags, guard);
  }

  get description(): string {
    return this.database.description;
  }

  /**
   * Executes an UPDATE of one row, with `?` for a parameter; returns whether it changed a row.
   *
   * @param guarded whether to change nothing if the guard must act first
   */
  protected abstract update(sql: string, parameters: SqlParameter[], guarded: boolean): Promise<boolean>;

  /** Allocates from a tag that is not interleaved; undefined when no row was changed, or the guard must act first. */
  protected abstract tryAllocate(tag: string, size: number | undefined): Promise<Allocation | undefined>;

  /** Executes an INSERT, given from the table name on, under the guard; an existing row stays unchanged. */
  protected abstract insert(statement: SqlStatement): Promise<void>;

  async findTag(tag: string): Promise<TagEntry | undefined> {
    const row = await this.directory.find(tag);
    return row && toEntry(row);
  }

  async listTags(): Promise<TagEntry[]> {
    const tags: TagEntry[] = [];
    for await (const page of this.tagPages()) tags.push(...page);
    return tags;
  }

  override async *tagPages(): AsyncGenerator<TagEntry[], void> {
    // A database that cannot be written to, for example because its disk is full, still lists its tags.
    await this.guard.advance().catch(() => undefined);
    for (let last = ''; ;) {
      const page = await this.directory.page(last, PAGE);
      yield page.map(toEntry);
      if (page.length < PAGE) return;
      last = page.at(-1)?.biz_tag ?? last;
      await this.database.yieldToEventLoop();
    }
  }

  async allocate(tag: string, size: number | undefined): Promise<Allocation> {
    await this.guard.prepare();
    if (this.interleaved.has(tag)) return this.allocateBlocks(tag, size);
    let wentBack = false;
    let followed = false;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { generation } = this.guard;
      const allocation = await this.tryAllocate(tag, size);
      if (allocation !== undefined && (await this.guard.confirm(generation))) {
        return wentBack ? { ...allocation, wentBack } : allocation;
      }
      const [row, ...others] = await this.rows(tag);
      if (row !== undefined && row.interleave_of !== null) return this.allocateBlocks(tag, size);
      const usable = others.length === 0 && row?.reset_every === null && isUsable(row) ? row : undefined;
      const count = BigInt(size ?? usable?.step ?? 0);
      if (usable !== undefined && needsAdmission(tag, usable)) {
        wentBack = (await this.history.admit(tag)) || wentBack;
      } else if (usable !== undefined && !isExhausted(usable, count) && isBeyondLimit(usable, count)) {
        await this.history.extend(tag, usable, count);
      } else {
        const isRefused = usable === undefined || isExhausted(usable, count);
        const isFollowed = followed || !(await this.guard.follow());
        if (isRefused && isFollowed) throw refusalOf(tag, size, row, others.length);
        followed = isRefused; // Otherwise the row has changed since, and can be used now.
      }
    }
    throw changedMeanwhile(tag);
  }

  giveBack(tag: string, { from, to }: IdRange): Promise<boolean> {
    const interleave = this.interleaved.get(tag);
    if (interleave === undefined) return this.swap(tag, to + 1n, from, undefined, from);
    const block = new InterleavedBlocks(interleave).exactly({ from, to });
    if (block === undefined) return Promise.resolve(false);
    return this.swap(tag, block.end, block.from, interleave, from);
  }

  async raise(tag: string, minimum: bigint): Promise<void> {
    await this.guard.prepare();
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const [row] = await this.rows(tag);
      if (row === undefined || !isUsable(row)) return;
      // A row that went back would look as if it had not.
      if (needsAdmission(tag, row)) {
        await this.history.admit(tag);
        continue;
      }
      const { interleave } = kindOf(tag, row);
      const position = positionOf(minimum, interleave);
      const before = BigInt(row.max_id);
      if (before >= position) return;
      const { condition, values } = shareCondition(interleave);
      const isRaised = await this.update(
        `UPDATE leaf_alloc SET ${setPosition(this.tags.number)}, update_time = CURRENT_TIMESTAMP
         WHERE ${this.tags.thisTag} AND ${POSITION} >= ? AND ${POSITION} < ? AND ${condition}`,
        [position, position, ...this.tags.key(tag), before, position, ...values],
        false,
      );
      if (isRaised) return;
    }
    throw changedMeanwhile(tag);
  }

  override async recover(tag: string, minimum: bigint): Promise<void> {
    await this.history.admit(tag, minimum);
  }

  override async allocateAll(requests: readonly AllocationRequest[]): Promise<(Allocation | LeafError)[]> {
    if (requests.length === 0) return [];
    const granted = new Map<string, Allocation>();
    const fault = await orRefusal(this.grantAll(requests, granted));
    return Promise.all(
      // Retry the others one by one to get the reason of each refusal.
      requests.map(async ({ tag, size }) => granted.get(tag) ?? fault ?? (await orRefusal(this.allocate(tag, size)))),
    );
  }

  async beginPeriod(tag: string, kind: TagKind, period: Period, least: bigint): Promise<void> {
    const row = periodRow(tag, period.name);
    const isThere = async (): Promise<boolean> => (await this.findTag(row)) !== undefined;
    if (await isThere()) return;
    await this.guard.prepare();
    // The caller has had numbers of it: the row is gone, and perhaps its record.
    if (least > 1n) await this.recordDeleted(row, least);
    const statement = insertPeriod(this.tags, tag, kind, period, least);
    await this.insert(statement);
    if (await isThere()) return;
    if (await this.guard.follow()) await this.insert(statement);
    if (!(await isThere())) throw await this.periodRefusal(tag, kind, row);
  }

  recordDeleted(tag: string, nextId: bigint): Promise<void> {
    return this.history.recordDeleted(tag, nextId);
  }

  /** Calls {@link tryAllocate} for each request and stores the results in `granted`. */
  protected async tryAllocateAll(
    requests: readonly AllocationRequest[],
    granted: Map<string, Allocation>,
  ): Promise<void> {
    for (const { tag, size } of requests) {
      const allocation = await this.tryAllocate(tag, size);
      if (allocation !== undefined) granted.set(tag, allocation);
    }
  }

  private async grantAll(requests: readonly AllocationRequest[], granted: Map<string, Allocation>): Promise<void> {
    await this.guard.prepare();
    await this.tryGrantAll(requests, granted);
    const missing = requests.filter(({ tag }) => !granted.has(tag));
    if (missing.length === 0 || !(await this.guard.follow())) return;
    await this.tryGrantAll(missing, granted);
  }

  private async tryGrantAll(requests: readonly AllocationRequest[], granted: Map<string, Allocation>): Promise<void> {
    const { generation } = this.guard;
    const allocated = new Map<string, Allocation>();
    try {
      await this.tryAllocateAll(requests, allocated);
    } finally {
      // Those before a failure count as well.
      if (allocated.size > 0 && (await this.guard.confirm(generation))) {
        for (const [tag, allocation] of allocated) granted.set(tag, allocation);
      }
    }
  }

  /**
   * Allocates the next whole blocks: computes them from the row, then updates the row if it is unchanged. This takes one
   * more round trip than a plain allocation.
   */
  private async allocateBlocks(tag: string, size = 1): Promise<Allocation> {
    let wentBack = false;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const [row, ...others] = await this.rows(tag);
      const interleave = row && kindOf(tag, row).interleave;
      if (interleave === undefined) this.interleaved.delete(tag);
      if (row === undefined || interleave === undefined || others.length > 0 || !isUsable(row)) {
        throw refusalOf(tag, undefined, row, others.length);
      }
      this.interleaved.set(tag, interleave);
      if (needsAdmission(tag, row)) {
        wentBack = (await this.history.admit(tag)) || wentBack;
        continue;
      }
      const position = BigInt(row.max_id);
      const map = new InterleavedBlocks(interleave);
      const wanted = Math.min(Math.ceil(size / interleave.block), MAX_BLOCKS);
      const blocks = map.run(map.atPosition(position), wanted).filter(({ range }) => range.to < MAX_ID);
      const [first, ...further] = blocks;
      if (first === undefined) throw exhausted(tag, MAX_ID, interleave.block, undefined);
      const last = further.at(-1) ?? first;
      const count = last.end - position;
      if (isBeyondLimit(row, count)) {
        await this.history.extend(tag, row, count);
        continue;
      }
      const { generation } = this.guard;
      const isTaken = await this.swap(tag, position, last.end, interleave, first.range.from);
      if (isTaken && (await this.guard.confirm(generation))) {
        const more = further.map(({ range }) => range);
        const allocation = { ...first.range, step: row.step, maxStep: row.max_step ?? undefined, more };
        return wentBack ? { ...allocation, wentBack } : allocation;
      }
      await this.guard.follow();
    }
    throw changedMeanwhile(tag);
  }

  /**
   * Compare-and-set of the position, for the row of this share.
   *
   * @param first the first ID that could be issued next; never below the record of the tag
   */
  private swap(
    tag: string,
    from: bigint,
    to: bigint,
    interleave: Interleave | undefined,
    first: bigint,
  ): Promise<boolean> {
    const { condition, values } = shareCondition(interleave);
    return this.update(
      `UPDATE leaf_alloc SET ${setPosition(this.tags.number)}, update_time = CURRENT_TIMESTAMP
       WHERE ${this.tags.thisTag} AND ${HAS_POSITION} AND ${POSITION} = ? AND ${condition}
       AND (issue_limit >= ? OR ${POSITION} > ?) AND ${notIssuedAbove(this.tags)}`,
      [to, to, ...this.tags.key(tag), from, ...values, to, to, tag, first],
      true,
    );
  }

  protected rows(tag: string): Promise<AllocRow[]> {
    return readRows((sql, parameters = []) => this.database.run(sql, [...parameters]), this.tags, tag);
  }

  /** Why the row of a period could not be inserted. */
  private async periodRefusal(tag: string, { reset, zone = 'UTC' }: TagKind, row: string): Promise<LeafError> {
    const { text, thisTag, key, now } = this.tags;
    const sql = text(`SELECT reset_every, time_zone, ${now} AS now FROM leaf_alloc WHERE ${thisTag}`);
    const [found] = await this.database.run<PeriodicRow[]>(sql, key(tag));
    if (found?.reset_every !== reset || (found?.time_zone ?? 'UTC') !== zone) return unknownTag(tag);
    const [equal] = await this.database.run<{ biz_tag: string }[]>(
      text('SELECT biz_tag FROM leaf_alloc WHERE biz_tag = ?'),
      [row],
    );
    if (equal !== undefined && equal.biz_tag !== row) return sameForCollation(row, equal.biz_tag);
    const time = new Date(Number(found?.now) * 1000).toISOString();
    return invalidPeriod(
      `the period of the row "${row}" is too far from ${time}, the current time of the database. Compare it with the clock of this server`,
    );
  }
}

/** An invalid row is listed here, and refused at the first allocation. */
function toEntry(row: EntryRow): TagEntry {
  const tag = row.biz_tag;
  try {
    return { tag, kind: kindOf(tag, row) };
  } catch {
    return { tag, kind: undefined };
  }
}
