import {
  type Allocation,
  type AllocationRequest,
  type Block,
  type IdRange,
  type Interleave,
  InterleavedBlocks,
  LeafError,
  MAX_ID,
  MAX_STEP,
  orRefusal,
  SegmentStore,
  type TagEntry,
} from '@leaf/core';
import type { FailoverGuard } from './failover/failover-guard';
import type { SqlDatabase, SqlParameter } from './sql-database';
import { KIND_COLUMNS, type KindColumns, kindOf } from './tags/setting-columns';
import type { TagDialect } from './tags/tag-dialect';

export interface AllocRow extends KindColumns {
  /** Decimal: JavaScript numbers are exact to 2^53 only. */
  readonly max_id: string | null;
  readonly step: number | null;
  readonly max_step: number | null;
  /** Decimal: where a deleted tag of this name had come to. */
  readonly deleted: string | null;
  /** Decimal: the last ID that may be given. */
  readonly last_id: string | null;
}

interface EntryRow extends KindColumns {
  readonly biz_tag: string;
}

/** The row of a tag, as an allocation left it. */
export interface Allocated {
  readonly max_id: string;
  readonly step: number;
  readonly max_step: number | null;
}

/** Tries of a block that others take at the same time. */
const BLOCK_ATTEMPTS = 20;

/** Tags that are read at once: few enough that nobody has to wait for the driver that reads their rows. */
const PAGE = 1000;

/** What the stores on SQL databases have in common; each dialect writes its own statements. */
export abstract class SqlSegmentStore extends SegmentStore {
  /** Tags of which this database has a share, as last seen. */
  private readonly interleaved = new Map<string, Interleave>();

  /** @param guard what notices that a replica was promoted; a database without replicas has none */
  constructor(
    protected readonly database: SqlDatabase,
    protected readonly guard?: FailoverGuard,
  ) {
    super();
  }

  get description(): string {
    return this.database.description;
  }

  protected abstract readonly tags: TagDialect;

  /** The rows of exactly this tag: one, unless the table has no key. */
  protected abstract rows(tag: string): Promise<AllocRow[]>;

  /**
   * Carries out an UPDATE of one row, written with `?`; returns whether there was such a row.
   *
   * @param guarded whether it is left out when the guard has to see to something
   */
  protected abstract update(sql: string, parameters: SqlParameter[], guarded: boolean): Promise<boolean>;

  /** The allocation of a tag that is not interleaved; undefined when no row was there to change, or the guard let none be changed. */
  protected abstract tryAllocate(tag: string, size: number | undefined): Promise<Allocation | undefined>;

  async findTag(tag: string): Promise<TagEntry | undefined> {
    const { text, thisTag, key } = this.tags;
    const sql = text(`SELECT biz_tag, ${KIND_COLUMNS} FROM leaf_alloc WHERE ${thisTag}`);
    const [row] = await this.database.run<EntryRow[]>(sql, key(tag));
    return row && toEntry(row);
  }

  async listTags(): Promise<TagEntry[]> {
    const sql = this.tags.text(
      `SELECT biz_tag, ${KIND_COLUMNS} FROM leaf_alloc WHERE biz_tag > ? ORDER BY biz_tag LIMIT ?`,
    );
    const tags: TagEntry[] = [];
    for (;;) {
      const page = await this.database.run<EntryRow[]>(sql, [tags.at(-1)?.tag ?? '', PAGE]);
      for (const row of page) tags.push(toEntry(row));
      if (page.length < PAGE) return tags;
      await this.database.letOthersPass();
    }
  }

  async allocate(tag: string, size: number | undefined): Promise<Allocation> {
    await this.guard?.prepare();
    if (this.interleaved.has(tag)) return this.allocateBlock(tag);
    const allocation = await this.tryAllocate(tag, size);
    if (allocation !== undefined) return allocation;
    const again = (await this.guard?.follow()) === true ? await this.tryAllocate(tag, size) : undefined;
    if (again !== undefined) return again;
    const [row, ...others] = await this.rows(tag);
    if (row !== undefined && row.interleave_of !== null && others.length === 0) return this.allocateBlock(tag);
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
      `UPDATE leaf_alloc SET max_id = ?, update_time = CURRENT_TIMESTAMP
       WHERE ${this.tags.thisTag} AND max_id < ? AND ${condition}`,
      [position, ...this.tags.key(tag), position, ...values],
      false,
    );
  }

  override async allocateAll(requests: readonly AllocationRequest[]): Promise<(Allocation | LeafError)[]> {
    if (requests.length === 0) return [];
    const granted = new Map<string, Allocation>();
    const fault = await orRefusal(this.grantAll(requests, granted));
    return Promise.all(
      // One of the others is allocated by itself: it says why it was refused.
      requests.map(async ({ tag, size }) => granted.get(tag) ?? fault ?? (await orRefusal(this.allocate(tag, size)))),
    );
  }

  async recordDeleted(tag: string, nextId: bigint): Promise<void> {
    await this.database.run(this.tags.text(this.tags.rememberDeleted), [tag, nextId]);
  }

  /** As {@link tryAllocate} of each request, into `granted`. */
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
    await this.guard?.prepare();
    await this.tryAllocateAll(requests, granted);
    const missing = requests.filter(({ tag }) => !granted.has(tag));
    if (missing.length === 0 || (await this.guard?.follow()) !== true) return;
    await this.tryAllocateAll(missing, granted);
  }

  /**
   * The next whole block, computed here from the row as it is read, and taken if the row is still the same. Beside
   * a plain allocation that costs one more round trip for each block.
   */
  private async allocateBlock(tag: string): Promise<Allocation> {
    for (let attempt = 0; attempt < BLOCK_ATTEMPTS; attempt++) {
      const [row, ...others] = await this.rows(tag);
      const interleave = row && kindOf(tag, row).interleave;
      if (interleave === undefined) this.interleaved.delete(tag);
      if (row === undefined || interleave === undefined || others.length > 0 || !isUsable(row)) {
        throw refusalOf(tag, undefined, row, others.length);
      }
      this.interleaved.set(tag, interleave);
      const block = nextBlock(row, interleave);
      if (block.range.to >= MAX_ID) throw exhausted(tag, block.range.from, interleave.block, undefined);
      const { sql, parameters } = this.swap(tag, BigInt(row.max_id), block.end, interleave);
      const deleted = BigInt(row.deleted ?? 0);
      const taken = await this.update(`${sql} AND ${this.tags.notDeletedAbove}`, [...parameters, tag, deleted], true);
      if (taken) return { ...block.range, step: row.step, maxStep: row.max_step ?? undefined };
      await this.guard?.follow();
    }
    throw changedMeanwhile(tag);
  }

  /** Moves a row from one `max_id` to another, if it is still there, and the row of this share. */
  private swap(tag: string, from: bigint, to: bigint, interleave: Interleave | undefined): SqlStatementText {
    const { condition, values } = shareCondition(interleave);
    return {
      sql: `UPDATE leaf_alloc SET max_id = ?, update_time = CURRENT_TIMESTAMP
        WHERE ${this.tags.thisTag} AND max_id = ? AND ${condition}`,
      parameters: [to, ...this.tags.key(tag), from, ...values],
    };
  }
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

/** Above what the row gave, and what a deleted tag of the name had given. */
function nextBlock(row: UsableRow, interleave: Interleave): Block {
  const blocks = new InterleavedBlocks(interleave);
  const next = blocks.atPosition(BigInt(row.max_id));
  const afterDeleted = blocks.fromId(BigInt(row.deleted ?? 1));
  return next.from < afterDeleted.from ? afterDeleted : next;
}

type UsableRow = AllocRow & { readonly max_id: string; readonly step: number };

function isUsable(row: AllocRow): row is UsableRow {
  return row.max_id !== null && row.step !== null && isStep(row.step) && /^[1-9]\d*$/.test(row.max_id);
}

/** Why an allocation found no row to change. */
function refusalOf(tag: string, size: number | undefined, row: AllocRow | undefined, others: number): LeafError {
  if (row === undefined) return unknownTag(tag);
  if (others > 0 || !isUsable(row)) {
    return new LeafError(
      'LEAF_TAG_ROW_INVALID',
      others > 0
        ? `leaf_alloc has ${others + 1} rows of tag "${tag}". Keep the one with the highest max_id, and make biz_tag the primary key.`
        : `The row of tag "${tag}" in leaf_alloc has max_id ${row.max_id ?? 'NULL'} and step ${row.step ?? 'NULL'}. Set both to whole numbers from 1 upwards, step to ${MAX_STEP} at most.`,
    );
  }
  const { max_id, step, deleted, last_id } = row;
  const count = size ?? step;
  const next = BigInt(deleted ?? 0) > BigInt(max_id) ? BigInt(deleted ?? 0) : BigInt(max_id);
  const last = BigInt(last_id ?? MAX_ID - 1n);
  if (next > last + 1n - BigInt(count)) return exhausted(tag, next, count, last_id ?? undefined);
  return changedMeanwhile(tag);
}

/** @param max the last ID of the tag, decimal; undefined: that of all */
function exhausted(tag: string, next: bigint, count: number, max: string | undefined): LeafError {
  return new LeafError(
    'LEAF_TAG_EXHAUSTED',
    `Tag "${tag}" is at ${next}: ${count} more IDs would pass its last one, ${max ?? MAX_ID - 1n}. ${max === undefined ? 'Start a new tag.' : 'Raise its max, or start a new tag.'}`,
  );
}

function changedMeanwhile(tag: string): LeafError {
  return new LeafError('LEAF_STORE_UNAVAILABLE', `The row of tag "${tag}" was changed meanwhile; ask again.`, {
    retryAfterMs: 1000,
  });
}

/** SQLite keeps what it is given: a text, a fraction, a number that JavaScript has not. */
function isStep(step: number): boolean {
  return Number.isInteger(step) && step >= 1 && step <= MAX_STEP;
}

/** A row that makes no sense is refused when somebody asks for its IDs. */
function toEntry(row: EntryRow): TagEntry {
  const tag = row.biz_tag;
  try {
    return { tag, kind: kindOf(tag, row) };
  } catch {
    return { tag, kind: undefined };
  }
}

function unknownTag(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_NOT_FOUND',
    `There is no tag "${tag}". Create its row in leaf_alloc first; it is found within a second.`,
  );
}
