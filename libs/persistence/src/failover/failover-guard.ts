import { LeafError, MAX_RANGE_SIZE } from '@leaf-ids/core';
import { DEFAULT_SEGMENT_OPTIONS } from '@leaf-ids/core/internal';
import type { SqlDatabase, Statement } from '../connections/sql-database';
import { type Gap, type MoveDialect, moveForward, type MovedRows } from './move-forward';

/** {@link FailoverOptions.gapSteps} by default. */
export const DEFAULT_FAILOVER_GAP_STEPS = 10;

export interface FailoverOptions {
  /** Number of lost allocations of a tag that a failover covers; 0 disables the guard. */
  readonly gapSteps: number;
  /** The largest dynamic step of this server; the default is that of `DEFAULT_SEGMENT_OPTIONS`. */
  readonly maxStep?: number;
  /** Called before tags are moved forward: a rejection keeps the database from being used. */
  readonly beforeMove?: () => Promise<void>;
  /** Called when tags were moved forward. */
  readonly onFailover: (message: string) => void;
}

/** Identifies the copy of the data that a connection uses. */
export interface DatabaseIdentity {
  /**
   * The name of the copy: that of the cluster if each node has all commits of the others; that of the timeline if a
   * promotion starts a new one; otherwise that of the server.
   */
  readonly server: string;
  /**
   * SQL that evaluates to `server` on the server that executes it; to NULL when the role of that server has changed,
   * for example because it left its cluster.
   */
  readonly expression: string;
  /**
   * Of a cluster that can be started anew from a node that lacks commits. Call it in the transaction that has locked the
   * record, before tags are moved; `mayMove`: whether they will be.
   *
   * @returns false when the cluster may lack commits
   */
  readonly follow?: (statement: Statement, mayMove: boolean) => Promise<boolean>;
}

/** The statements of the guard that differ between databases. */
export interface GuardDialect {
  /** @throws LeafError `LEAF_STORE_UNAVAILABLE` for a server outside its configured cluster */
  readonly askIdentity: (statement: Statement) => Promise<DatabaseIdentity>;
  /** Parameters: server, largest size. Keeps an existing record. */
  readonly insertRecord: string;
  /** Selects `server` and `generation`, and locks the record. */
  readonly lockRecord: string;
  /** SQL: the name of the database on its server. */
  readonly database: string;
}

interface ServerRecord {
  readonly server: string;
  readonly generation: number | string;
}

interface Place {
  readonly here: string | null;
  readonly name: string | null;
}

interface EpochRow extends ServerRecord {
  readonly here: string | null;
  readonly moved: number | string | null;
}

/** The time between two losses of allocations. */
export interface Epoch {
  /** Number of losses before it. */
  readonly count: number;
  /** Unix seconds. */
  readonly since: number;
}

/** Result of the move after a restore. */
export interface MoveReport extends MovedRows {
  /** The database, without secrets. */
  readonly database: string;
  /** Every tag was moved forward by at least this many IDs, or to the end of its range. */
  readonly ids: bigint;
}

/** Time limit for moving all rows forward, in milliseconds. */
const MOVE_LIMIT_MS = 60_000;
/** Limit for all rows of a restored database, in milliseconds. */
export const RESTORE_LIMIT_MS = 3_600_000;
/** A move raises the generation by more than the refreshes of all servers until the next move. */
export const MOVE_GENERATIONS = 1_000_000_000;

/** Lost history of a database, and how far its tags move. */
interface Setback {
  readonly reason: string;
  readonly gap: Gap;
  /** Generation after the move. */
  readonly generation: number;
}

/**
 * Detects a database that lacks the newest allocations: a promoted replica, a restored backup.
 *
 * Each allocation compares the record in `leaf_segment_server` (server of the last allocation, and `generation`, the
 * count of starts and refreshes) with its server and the last generation seen. If they differ, one transaction moves
 * every tag forward by a gap before any further range is allocated.
 *
 * The gap is `gapSteps` times the largest possible allocation of the tag, plus a gap for each earlier move that the copy
 * lacks. A server that has seen nothing since a backup was taken cannot notice its restore: see {@link restored}. Servers
 * of the previous version compare their sizes with the column `largest_step`, which this server raises.
 */
export class FailoverGuard {
  /** {@link DatabaseIdentity.expression}; undefined before {@link prepare}, and while the guard is disabled. */
  expression: string | undefined;
  /** The lowest generation that the record may have. */
  generation = 0;

  private started = false;
  private starting: Promise<void> | undefined;
  private following: Promise<void> | undefined;

  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: GuardDialect,
    private readonly moves: MoveDialect,
    private readonly options: FailoverOptions,
  ) {}

  /** How far a tag whose newest allocations may be lost is moved. */
  get gap(): Gap {
    const { gapSteps, maxStep = DEFAULT_SEGMENT_OPTIONS.maxStep } = this.options;
    return { steps: gapSteps, least: Math.max(maxStep, MAX_RANGE_SIZE) };
  }

  /**
   * A condition that is false when the guard must act first, from AND on; empty while the guard is disabled.
   *
   * @param isServer SQL: the column `server` names the server that executes the statement
   */
  condition(isServer: string): string {
    if (this.expression === undefined) return '';
    return `AND EXISTS (SELECT 1 FROM leaf_segment_server WHERE id = 1 AND ${isServer} AND generation >= ${this.generation})`;
  }

  /**
   * Call before each allocation; acts only before the first one.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  async prepare(): Promise<void> {
    if (this.started) return;
    this.starting ??= this.start().finally(() => (this.starting = undefined));
    await this.starting;
  }

  /**
   * Call when an allocation changed no row: moves the tags forward if the database may lack allocations.
   *
   * @returns whether to retry the allocation
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  async follow(): Promise<boolean> {
    if (this.expression === undefined) return false;
    this.following ??= this.bringUpToDate().finally(() => (this.following = undefined));
    await this.following;
    return true;
  }

  /**
   * Raises the generation: from now on, this server notices a database that is older than this call. Acts on one that is
   * older than the call before: otherwise, refreshes would raise its generation until no server notices it.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  async advance(): Promise<void> {
    if (this.expression === undefined) return;
    const { text, greatest } = this.moves;
    // MySQL sets update_time, the time of the last move, unless it is mentioned.
    const sql = `UPDATE leaf_segment_server SET generation = generation + 1, update_time = update_time,
      largest_step = ${greatest}(largest_step, ?) WHERE id = 1 AND generation >= ${this.generation}`;
    await this.statement(text(sql), [this.gap.least]);
    await this.compare();
  }

  /**
   * Whether the answer to an allocation counts: a refresh meanwhile may have seen a newer database than {@link condition}
   * asked for, and an older one may have answered.
   *
   * @param sent {@link generation} before the allocation was sent
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  async confirm(sent: number): Promise<boolean> {
    if (this.generation === sent) return true;
    // An older database stays as it is when this shares a check of the newer one.
    const isNewest = await this.compare();
    // A move since then may be one that followed the allocation.
    return isNewest && this.generation - sent < MOVE_GENERATIONS / 2;
  }

  /**
   * Moves every tag, period and record of a deleted tag forward, for a database that was restored from a backup. The
   * periods that may have begun since then, and are not in the backup, begin above the gap. One transaction; repeatable.
   * It also works while the guard is disabled.
   *
   * @throws LeafError `LEAF_CONFIG_INVALID` for an empty gap; `LEAF_STORE_UNAVAILABLE`
   */
  restored(gap: Gap = this.gap): Promise<MoveReport> {
    return this.database.transaction((statement) => this.restoredWithin(statement, gap), RESTORE_LIMIT_MS);
  }

  /** As {@link restored}, in a transaction of the caller. */
  async restoredWithin(statement: Statement, gap: Gap): Promise<MoveReport> {
    const ids = BigInt(gap.steps) * BigInt(gap.least);
    if (ids < 1n) throw new LeafError('LEAF_CONFIG_INVALID', 'After a restore, gapSteps must be at least 1.');
    const { server, follow } = await this.dialect.askIdentity(statement);
    const [record] = await statement<ServerRecord[]>(this.dialect.lockRecord);
    await follow?.(statement, true);
    const moved = await this.move(statement, gap, server, record);
    // Numbers without gaps are in question even if no failover of the database loses a commit.
    await statement(`UPDATE leaf_number_head SET epoch = 0 - ${this.moves.now}`);
    return { ...moved, database: this.database.description, ids };
  }

  /**
   * As {@link follow}, in a transaction of the caller, who reads or changes rows in it. Call {@link prepare} before.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  async followWithin(statement: Statement): Promise<void> {
    if (this.expression !== undefined) await this.moveOn(statement, true);
  }

  /**
   * How often the database has lost allocations, or may have. Call {@link prepare} before.
   *
   * @param statement of a transaction, or one that sees what is committed
   * @param updated SQL: when a row was last written, in Unix seconds
   * @returns undefined when the guard must {@link follow} first, outside the transaction
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  async epoch(statement: Statement, updated: string): Promise<Epoch | undefined> {
    const sql = `SELECT (${this.expression ?? 'server'}) AS here, server, generation, ${updated} AS moved
      FROM leaf_segment_server WHERE id = 1`;
    const [record] = await statement<EpochRow[]>(sql);
    const { here, server, generation = 0, moved } = record ?? {};
    const isCurrent = record !== undefined && here === server && Number(generation) >= this.generation;
    if (this.expression !== undefined && !isCurrent) return undefined;
    return { count: Math.floor(Number(generation) / MOVE_GENERATIONS), since: Number(moved ?? 0) };
  }

  /** As {@link epoch}, for a transaction of the caller on the same server, which may see the database as it was. */
  async epochBeside(statement: Statement, updated: string): Promise<Epoch | undefined> {
    const sql = `SELECT (${this.expression ?? 'NULL'}) AS here, ${this.dialect.database} AS name`;
    const [[own], [other]] = [await this.statement<Place[]>(sql), await statement<Place[]>(sql)];
    if (own?.name !== other?.name) throw elsewhere(own?.name, other?.name);
    if (own?.here !== other?.here) return undefined;
    return this.epoch(this.statement, updated);
  }

  /** Reports that a single tag was moved forward. */
  report(message: string): void {
    this.options.onFailover(message);
  }

  /** Acts on a database that is older than this server knows it. Returns false for such a database. */
  private async compare(): Promise<boolean> {
    const known = this.generation;
    const [record] = await this.statement<ServerRecord[]>('SELECT generation FROM leaf_segment_server WHERE id = 1');
    const generation = Number(record?.generation ?? 0);
    const isOlder = generation < known;
    if (isOlder) await this.follow();
    this.generation = Math.max(this.generation, generation);
    return !isOlder;
  }

  private async start(): Promise<void> {
    if (this.options.gapSteps > 0) {
      const { server, expression } = await this.dialect.askIdentity(this.statement);
      // A copy that is older than its first record is no new database: without the record, the first allocation moves on.
      if (!(await this.isUsed())) await this.statement(this.dialect.insertRecord, [server, this.gap.least]);
      this.expression = expression;
      await this.advance();
    }
    this.started = true;
  }

  /** Whether a tag of this database was issued by a server that knows its limit. */
  private async isUsed(): Promise<boolean> {
    const sql = 'SELECT biz_tag FROM leaf_alloc WHERE issue_limit IS NOT NULL LIMIT 1';
    return (await this.statement<unknown[]>(sql)).length > 0;
  }

  private readonly statement: Statement = (sql, parameters = []) => this.database.run(sql, parameters);

  private async bringUpToDate(): Promise<void> {
    const { database } = this;
    // All allocations wait for the move. When an answer is lost, the next one reads the record again.
    const moveOn = (mayMove: boolean): Promise<Setback | undefined> =>
      database.transaction((statement) => this.moveOn(statement, mayMove), MOVE_LIMIT_MS, database.answerMs);
    const { beforeMove } = this.options;
    let setback = await moveOn(beforeMove === undefined);
    if (setback === undefined) return;
    if (beforeMove !== undefined) {
      await beforeMove();
      setback = await moveOn(true);
      if (setback === undefined) return;
    }
    const { reason, gap, generation } = setback;
    this.generation = Math.max(this.generation, generation);
    this.options.onFailover(
      `${reason}, and may lack the newest allocations. Every tag was moved forward by ${gap.steps} times its step, at least ${gap.steps * gap.least} IDs.`,
    );
  }

  /** @returns why the tags were moved, or have to be if they must not be moved yet; undefined if they need not be */
  private async moveOn(statement: Statement, mayMove: boolean): Promise<Setback | undefined> {
    const { server, expression, follow } = await this.dialect.askIdentity(statement);
    this.expression = expression;
    const [record] = await statement<ServerRecord[]>(this.dialect.lockRecord);
    const isWhole = (await follow?.(statement, mayMove)) ?? true;
    const recorded = Number(record?.generation ?? 0);
    const isOlder = recorded < this.generation;
    if (record?.server === server && !isOlder && isWhole) {
      // Another server has moved the tags.
      this.generation = recorded;
      return undefined;
    }
    const lostMoves = isOlder ? Math.floor((this.generation - recorded) / MOVE_GENERATIONS) : 0;
    const gap = { ...this.gap, steps: this.gap.steps * (1 + lostMoves) };
    const generation = this.after(recorded);
    if (mayMove) await this.move(statement, gap, server, record);
    const { description } = this.database;
    const because = (reason: string): Setback => ({ reason, gap, generation });
    if (record === undefined) {
      return because(
        `${description} lacks the record of its server in leaf_segment_server: a replica was promoted, or the tables were replaced`,
      );
    }
    if (record.server === server && isOlder) {
      return because(
        `${description} is older than this server knows it: a backup was restored, or its file was replaced`,
      );
    }
    if (record.server === server) {
      return because(`${description} is a cluster with at most half of its previous members: it was started anew`);
    }
    return because(`${description} moved from server ${record.server} to server ${server}: a replica was promoted`);
  }

  private async move(
    statement: Statement,
    gap: Gap,
    server: string,
    record: ServerRecord | undefined,
  ): Promise<MovedRows> {
    const moved = await moveForward(statement, this.moves, gap);
    if (record === undefined) await statement(this.dialect.insertRecord, [server, this.gap.least]);
    const generation = this.after(Number(record?.generation ?? 0));
    const sql = `UPDATE leaf_segment_server SET server = ?, generation = ${generation}, update_time = CURRENT_TIMESTAMP
      WHERE id = 1`;
    await statement(this.moves.text(sql), [server]);
    return moved;
  }

  /** The generation after a move of tags whose record has another one. */
  private after(recorded: number): number {
    return Math.max(this.generation, recorded) + MOVE_GENERATIONS;
  }
}

function elsewhere(own: string | null | undefined, other: string | null | undefined): LeafError {
  return new LeafError(
    'LEAF_REQUEST_INVALID',
    `The transaction is in the database ${other ?? 'without a name'}, and the tags of Leaf are in ${own ?? 'another one'}. Use a connection to that database.`,
  );
}
