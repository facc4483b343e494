import {
  type Allocation,
  type IdRange,
  invalidPeriod,
  LeafError,
  MAX_ID,
  MAX_STEP,
  type Period,
  periodicTag,
  periodRow,
  SegmentStore,
  type TagEntry,
  type TagKind,
} from '@leaf/core';
import type { FailoverGuard } from './failover/failover-guard';
import type { SqlDatabase, SqlStatement } from './sql-database';
import { insertPeriod, NO_PERIOD } from './tags/period-statement';
import { KIND_COLUMNS, type KindColumns, kindOf } from './tags/setting-columns';
import type { TagDialect } from './tags/tag-dialect';

export interface AllocRow {
  /** Decimal: JavaScript numbers are exact to 2^53 only. */
  readonly max_id: string | null;
  readonly step: number | null;
  /** Decimal: where a deleted tag of this name had come to. */
  readonly deleted: string | null;
  /** Decimal: the last ID that may be given. */
  readonly last_id: string | null;
  /** Not null in the row of a tag that begins anew: IDs come from the rows of its periods. */
  readonly reset_every: string | null;
}

interface EntryRow extends KindColumns {
  readonly biz_tag: string;
}

interface PeriodicRow {
  readonly reset_every: string | null;
  readonly time_zone: string | null;
  /** Unix seconds. */
  readonly now: number | string;
}

/** The row of a tag, as an allocation left it. */
export interface Allocated {
  readonly max_id: string;
  readonly step: number;
  readonly max_step: number | null;
}

/** Tags that are read at once: few enough that nobody has to wait for the driver that reads their rows. */
const PAGE = 1000;

/** What the stores on SQL databases have in common; each dialect writes its own statements. */
export abstract class SqlSegmentStore extends SegmentStore {
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

  /** The allocation; undefined when no row was there to change, or the guard let none be changed. */
  protected abstract tryAllocate(tag: string, size: number | undefined): Promise<Allocation | undefined>;

  /** Carries out an INSERT that begins with the table, and that leaves a row that is there, under the guard. */
  protected abstract insert(statement: SqlStatement): Promise<void>;

  async findTag(tag: string): Promise<TagEntry | undefined> {
    const { text, thisTag, key } = this.tags;
    const sql = text(`SELECT biz_tag, ${KIND_COLUMNS} FROM leaf_alloc WHERE ${thisTag}`);
    const [row] = await this.database.run<EntryRow[]>(sql, key(tag));
    return row && toEntry(row);
  }

  async listTags(): Promise<TagEntry[]> {
    const sql = this.tags.text(
      `SELECT biz_tag, ${KIND_COLUMNS} FROM leaf_alloc WHERE biz_tag > ? AND ${NO_PERIOD} ORDER BY biz_tag LIMIT ?`,
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
    await this.guard?.prepare(size ?? 0);
    const allocation = await this.tryAllocate(tag, size);
    if (allocation !== undefined) return allocation;
    const again = (await this.guard?.follow(size ?? 0)) === true ? await this.tryAllocate(tag, size) : undefined;
    if (again !== undefined) return again;
    throw await this.refusal(tag, size);
  }

  async beginPeriod(tag: string, kind: TagKind, period: Period, least: bigint): Promise<void> {
    const row = periodRow(tag, period.name);
    const isThere = async (): Promise<boolean> => (await this.findTag(row)) !== undefined;
    if (await isThere()) return;
    await this.guard?.prepare(0);
    const statement = insertPeriod(this.tags, tag, kind, period, least);
    await this.insert(statement);
    if (await isThere()) return;
    if ((await this.guard?.follow(0)) === true) await this.insert(statement);
    if (!(await isThere())) throw await this.periodRefusal(tag, kind, row);
  }

  async recordDeleted(tag: string, nextId: bigint): Promise<void> {
    await this.database.run(this.tags.text(this.tags.rememberDeleted), [tag, nextId]);
  }

  abstract override giveBack(tag: string, range: IdRange): Promise<boolean>;
  abstract override raise(tag: string, minimum: bigint): Promise<void>;

  /** Why an allocation found no row to change. */
  private async refusal(tag: string, size: number | undefined): Promise<LeafError> {
    const [row, ...others] = await this.rows(tag);
    if (row === undefined) return unknownTag(tag);
    const { max_id, step, deleted, last_id, reset_every } = row;
    if (reset_every !== null) return periodicTag(tag);
    if (others.length > 0 || max_id === null || step === null || !isStep(step) || !/^[1-9]\d*$/.test(max_id)) {
      return new LeafError(
        'LEAF_TAG_ROW_INVALID',
        others.length > 0
          ? `leaf_alloc has ${others.length + 1} rows of tag "${tag}". Keep the one with the highest max_id, and make biz_tag the primary key.`
          : `The row of tag "${tag}" in leaf_alloc has max_id ${max_id ?? 'NULL'} and step ${step ?? 'NULL'}. Set both to whole numbers from 1 upwards, step to ${MAX_STEP} at most.`,
      );
    }
    const count = size ?? step;
    const next = BigInt(deleted ?? 0) > BigInt(max_id) ? BigInt(deleted ?? 0) : BigInt(max_id);
    const last = BigInt(last_id ?? MAX_ID - 1n);
    if (next > last + 1n - BigInt(count)) {
      return new LeafError(
        'LEAF_TAG_EXHAUSTED',
        `Tag "${tag}" is at ${next}: ${count} more IDs would pass its last one, ${last}. ${last_id === null ? 'Start a new tag.' : 'Raise its max, or start a new tag.'}`,
      );
    }
    return changedMeanwhile(tag);
  }

  /** Why there is still no row of a period. */
  private async periodRefusal(tag: string, { reset, zone = 'UTC' }: TagKind, row: string): Promise<LeafError> {
    const { text, thisTag, key, now } = this.tags;
    const sql = text(`SELECT reset_every, time_zone, ${now} AS now FROM leaf_alloc WHERE ${thisTag}`);
    const [found] = await this.database.run<PeriodicRow[]>(sql, key(tag));
    if (found?.reset_every !== reset || (found?.time_zone ?? 'UTC') !== zone) return unknownTag(tag);
    const time = new Date(Number(found?.now) * 1000).toISOString();
    return invalidPeriod(
      `the row "${row}" lies too far from ${time}, the time by the clock of the database. Compare it with the clock of this server`,
    );
  }
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
