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
import {
  type Block,
  InterleavedBlocks,
  invalidPeriod,
  MAX_BLOCKS,
  orRefusal,
  unknownTag,
} from '@leaf-ids/core/internal';
import { type AllocRow, type UsableRow, isUsable, refusalOf, exhausted, changedMeanwhile } from './alloc-row';
import type { FailoverGuard } from '../failover/failover-guard';
import type { SqlDatabase, SqlParameter, SqlStatement } from '../connections/sql-database';
import { NO_PERIOD } from '../failover/move-forward';
import { insertPeriod } from './period-statement';
import { HAS_POSITION, POSITION, setPosition } from '../failover/row-position';
import { KIND_COLUMNS, type KindColumns, kindOf } from './setting-columns';
import type { TagDialect } from './tag-dialect';

interface EntryRow extends KindColumns {
  readonly biz_tag: string;
}

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

/** Attempts to allocate a block while other servers compete for it. */
const BLOCK_ATTEMPTS = 20;

/** Rows per query when listing tags: few enough that parsing them does not block requests. */
const PAGE = 250;

/** The common part of the segment stores on SQL databases; each dialect adds its statements. */
export abstract class SqlSegmentStore extends SegmentStore {
  /** The interleaved tags of this database, as last read. */
  private readonly interleaved = new Map<string, Interleave>();

  /** @param guard detects a database that lacks the newest allocations */
  constructor(
    protected readonly database: SqlDatabase,
    protected readonly guard: FailoverGuard,
  ) {
    super();
  }

  get description(): string {
    return this.database.description;
  }

  protected abstract readonly tags: TagDialect;

  /** The rows of exactly this tag: at most one, unless the table has no primary key. */
  protected abstract rows(tag: string): Promise<AllocRow[]>;

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
    const { text, thisTag, key } = this.tags;
    const sql = text(`SELECT biz_tag, ${KIND_COLUMNS} FROM leaf_alloc WHERE ${thisTag}`);
    const [row] = await this.database.run<EntryRow[]>(sql, key(tag));
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
    const sql = this.tags.text(
      `SELECT biz_tag, ${KIND_COLUMNS} FROM leaf_alloc WHERE biz_tag > ? AND ${NO_PERIOD} ORDER BY biz_tag LIMIT ?`,
    );
    for (let last = ''; ;) {
      const page = await this.database.run<EntryRow[]>(sql, [last, PAGE]);
      yield page.map(toEntry);
      if (page.length < PAGE) return;
      last = page.at(-1)?.biz_tag ?? last;
      await this.database.letOthersPass();
    }
  }

  async allocate(tag: string, size: number | undefined): Promise<Allocation> {
    await this.guard.prepare();
    if (this.interleaved.has(tag)) return this.allocateBlocks(tag, size);
    const allocation = await this.tryAllocate(tag, size);
    if (allocation !== undefined) return allocation;
    const again = (await this.guard.follow()) ? await this.tryAllocate(tag, size) : undefined;
    if (again !== undefined) return again;
    const [row, ...others] = await this.rows(tag);
    if (row !== undefined && row.interleave_of !== null && others.length === 0) return this.allocateBlocks(tag, size);
    throw refusalOf(tag, size, row, others.length);
  }

  giveBack(tag: string, { from, to }: IdRange): Promise<boolean> {
    const interleave = this.interleaved.get(tag);
    if (interleave === undefined) {
      const { sql, parameters } = this.swap(tag, to + 1n, from, undefined);
      return this.update(sql, parameters, true);
    }
    const block = new InterleavedBlocks(interleave).exactly({ from, to });
    if (block === undefined) return Promise.resolve(false);
    const { sql, parameters } = this.swap(tag, block.end, block.from, interleave);
    return this.update(sql, parameters, true);
  }

  async raise(tag: string, minimum: bigint): Promise<void> {
    const interleave = (await this.findTag(tag))?.kind?.interleave;
    const position = interleave === undefined ? minimum : new InterleavedBlocks(interleave).fromId(minimum).from;
    const { condition, values } = shareCondition(interleave);
    await this.update(
      `UPDATE leaf_alloc SET ${setPosition(this.tags.number)}, update_time = CURRENT_TIMESTAMP
       WHERE ${this.tags.thisTag} AND ${POSITION} < ? AND ${condition}`,
      [position, position, ...this.tags.key(tag), position, ...values],
      false,
    );
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
    const statement = insertPeriod(this.tags, tag, kind, period, least);
    await this.insert(statement);
    if (await isThere()) return;
    if (await this.guard.follow()) await this.insert(statement);
    if (!(await isThere())) throw await this.periodRefusal(tag, kind, row);
  }

  async recordDeleted(tag: string, nextId: bigint): Promise<void> {
    await this.database.run(this.tags.text(this.tags.rememberDeleted), [tag, nextId]);
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
    await this.tryAllocateAll(requests, granted);
    const missing = requests.filter(({ tag }) => !granted.has(tag));
    if (missing.length === 0 || !(await this.guard.follow())) return;
    await this.tryAllocateAll(missing, granted);
  }

  /**
   * Allocates the next whole blocks: computes them from the row, then updates the row if it is unchanged. This takes one
   * more round trip than a plain allocation.
   */
  private async allocateBlocks(tag: string, size = 1): Promise<Allocation> {
    for (let attempt = 0; attempt < BLOCK_ATTEMPTS; attempt++) {
      const [row, ...others] = await this.rows(tag);
      const interleave = row && kindOf(tag, row).interleave;
      if (interleave === undefined) this.interleaved.delete(tag);
      if (row === undefined || interleave === undefined || others.length > 0 || !isUsable(row)) {
        throw refusalOf(tag, undefined, row, others.length);
      }
      this.interleaved.set(tag, interleave);
      const blocks = nextBlocks(row, interleave, size);
      const [first, last] = [blocks[0], blocks.at(-1)];
      if (first === undefined || last === undefined) throw exhausted(tag, MAX_ID, interleave.block, undefined);
      const { sql, parameters } = this.swap(tag, BigInt(row.max_id), last.end, interleave);
      const deleted = BigInt(row.deleted ?? 0);
      const taken = await this.update(`${sql} AND ${this.tags.notDeletedAbove}`, [...parameters, tag, deleted], true);
      const more = blocks.slice(1).map(({ range }) => range);
      if (taken) return { ...first.range, step: row.step, maxStep: row.max_step ?? undefined, more };
      await this.guard.follow();
    }
    throw changedMeanwhile(tag);
  }

  /** Compare-and-set of the position, for the row of this share. */
  private swap(tag: string, from: bigint, to: bigint, interleave: Interleave | undefined): SqlStatementText {
    const { condition, values } = shareCondition(interleave);
    return {
      sql: `UPDATE leaf_alloc SET ${setPosition(this.tags.number)}, update_time = CURRENT_TIMESTAMP
        WHERE ${this.tags.thisTag} AND ${HAS_POSITION} AND ${POSITION} = ? AND ${condition}`,
      parameters: [to, to, ...this.tags.key(tag), from, ...values],
    };
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

function sameForCollation(row: string, other: string): LeafError {
  return new LeafError(
    'LEAF_TAG_ROW_INVALID',
    `The collation of leaf_alloc treats "${row}" as equal to its row "${other}", so the period cannot begin. Compare bytes: ALTER TABLE leaf_alloc MODIFY biz_tag varchar(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT ''.`,
  );
}

interface SqlStatementText {
  readonly sql: string;
  readonly parameters: SqlParameter[];
}

function shareCondition(interleave: Interleave | undefined): { condition: string; values: SqlParameter[] } {
  if (interleave === undefined) return { condition: 'interleave_of IS NULL', values: [] };
  const { of, remainder, block } = interleave;
  return {
    condition: 'interleave_of = ? AND interleave_remainder = ? AND interleave_block = ?',
    values: [of, remainder, block],
  };
}

/** The next blocks with `size` IDs above the row, and above a deleted tag with this name, as far as there are any. */
function nextBlocks(row: UsableRow, interleave: Interleave, size: number): Block[] {
  const blocks = new InterleavedBlocks(interleave);
  const next = blocks.atPosition(BigInt(row.max_id));
  const afterDeleted = blocks.fromId(BigInt(row.deleted ?? 1));
  const count = Math.min(Math.ceil(size / interleave.block), MAX_BLOCKS);
  const run = blocks.run(next.from < afterDeleted.from ? afterDeleted : next, count);
  return run.filter(({ range }) => range.to < MAX_ID);
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
