import { type Allocation, type IdRange, tagOfRow } from '@leaf-ids/core';
import { InterleavedBlocks } from '@leaf-ids/core/internal';
import { MOVE_GENERATIONS } from '../../../../libs/persistence/src/failover/failover-guard';
import type { SegmentServer } from './segment-server';
import type { Copy, SimEngine } from './sim-engine';

/** Kinds of what can be wrong with segment IDs. */
export type SegmentBreach = 'segment duplicate' | 'segment order' | 'segment outage' | 'segment error';

/**
 * Conditions under which an ID may come twice or out of order, as the docs name them. Each is judged for the allocation
 * that took the ID; everything else is a bug.
 */
export const SEGMENT_EXCUSES = [
  'a row set back by less than its record shows, below IDs of other servers',
  'a row and its record gone, and IDs of other servers',
  'an older database, before a server that had seen the newer one',
  'an older database, after refreshes of servers that had not seen the newer one',
  'a period lost with a database, whose tag had no row then, or was inserted again below',
  'an interleaved tag after a restart that did not see the newest positions of all shares',
  'a move lost with a database, before the tags were moved by a server that had seen it',
  'a replica without the first record of a database, before a server that had seen the record',
] as const;
export type SegmentExcuse = (typeof SEGMENT_EXCUSES)[number];
export type SegmentExcuseCounts = Record<SegmentExcuse, number>;

export function noSegmentExcuses(): SegmentExcuseCounts {
  return Object.fromEntries(SEGMENT_EXCUSES.map((excuse) => [excuse, 0])) as SegmentExcuseCounts;
}

/** The tag whose numbers restart with each period. */
export const PERIODIC = 'daily';

/** Rows of a database that went back without a trace that every server must find. */
interface Setback {
  readonly database: string;
  /** A row; of a tag with periods, those of its periods. Undefined: all rows. */
  readonly key: string | undefined;
  readonly excuse: 0 | 1 | 2 | 4 | 6 | 7;
  /** What each server knew of the database: the generation; only of an older database. */
  readonly known: ReadonlyMap<SegmentServer, number>;
  /** The generation of the older database; of a lost move, the generation that it ended at. */
  readonly generation: number;
  readonly at: number;
  /** Rows that are above all their IDs again → since when. */
  readonly repaired: Map<string, number>;
}

/** A row was moved forward. */
interface Move {
  readonly key: string;
  readonly at: number;
  /** Of the database since then; of a single row that was moved: infinite, since its generation does not show that. */
  readonly generation: number;
}

/** More than any allocation takes, and less than the gap. */
const LEAST_MOVE = 1_000_000n;

/** Longer than a call waits, in milliseconds. */
const LONGEST_CALL_MS = 2000;

/** A range that a server got from a database. */
interface Grant extends IdRange {
  readonly server: SegmentServer;
  readonly database: string;
  readonly sentAt: number;
  readonly answeredAt: number;
  /** The generation of the database when the answer came. */
  readonly generation: number;
  /** Whether it is above everything that this server had got before, and knew. */
  readonly isAbove: boolean;
  /** Whether all shares were in the list of this server and could answer it at its first allocation of the tag. */
  readonly isWhole: boolean;
}

interface Row {
  readonly biz_tag: string;
  readonly position: string;
  readonly issue_limit: string | null;
  readonly deleted: string | null;
  readonly deleted_limit: string | null;
  readonly of: number | null;
  readonly remainder: number;
  readonly block: number;
}

const ROWS = `SELECT biz_tag, CAST(COALESCE(next_id, max_id) AS TEXT) AS position, CAST(issue_limit AS TEXT) AS issue_limit,
  (SELECT CAST(max_id AS TEXT) FROM leaf_deleted_tag WHERE leaf_deleted_tag.biz_tag = leaf_alloc.biz_tag) AS deleted,
  (SELECT CAST(issue_limit AS TEXT) FROM leaf_deleted_tag WHERE leaf_deleted_tag.biz_tag = leaf_alloc.biz_tag) AS deleted_limit,
  interleave_of AS "of", interleave_remainder AS remainder, interleave_block AS block FROM leaf_alloc`;

/** Checks every segment ID that is issued. Keys are tags, and rows of periods. */
export class SegmentLedger {
  failure: { readonly breach: SegmentBreach; readonly message: string } | undefined;
  ids = 0;
  readonly excused = noSegmentExcuses();
  private readonly grants = new Map<string, Grant[]>();
  private readonly used = new Map<string, Map<bigint, Grant>>();
  /** The highest ID that has been returned: by server, and by seat; of strict tags by anyone. */
  private readonly highest = new Map<string, bigint>();
  /** The highest position that each row has had. */
  private readonly ends = new Map<string, bigint>();
  private readonly setbacks: Setback[] = [];
  /** By database: how far rows were moved forward, and not by an allocation. */
  private readonly moves = new Map<string, Move[]>();
  /** By database: the generation after its last change. */
  private readonly generations = new Map<string, number>();
  /** By server and tag: when the server has put what it knew into the record of a deleted tag, and forgot it. */
  private readonly recordedAt = new Map<string, number>();
  /** By server and tag: {@link Grant.isWhole}. */
  private readonly whole = new Map<string, boolean>();
  /** By server and tag: when a call last began while a share was not where it had been. */
  private readonly beganWithout = new Map<string, number>();

  /** @param until failures of other kinds do not end a world */
  constructor(
    private readonly now: () => number,
    private readonly until: readonly string[] | undefined,
    private readonly note: (text: () => string) => void,
  ) {}

  breach(breach: SegmentBreach, message: string): void {
    if (this.until?.includes(breach) === false) return;
    this.failure ??= { breach, message };
  }

  /** A database has changed: rows that are above all their IDs are repaired. */
  readonly committed = (engine: SimEngine): void => {
    const open = this.setbacks.filter(({ database }) => database === engine.name);
    const generation = engine.generation;
    const isByGuard = generation >= (this.generations.get(engine.name) ?? 0) + MOVE_GENERATIONS / 2;
    this.generations.set(engine.name, generation);
    const rows = engine.sql<Row>(ROWS);
    // A tag without a row is not moved.
    if (isByGuard && !rows.some(({ biz_tag }) => biz_tag === PERIODIC)) this.setBack(engine, PERIODIC, 4);
    for (const { biz_tag, position, issue_limit } of rows) {
      const name = `${engine.name} ${biz_tag}`;
      const next = BigInt(position);
      if (next < this.endOf(engine.name, biz_tag)) {
        // A range that was given before the repair, and came back unused.
        for (const { repaired } of open) repaired.delete(biz_tag);
        continue;
      }
      this.noteMove(engine.name, biz_tag, next, isByGuard ? generation : Infinity);
      this.ends.set(name, next);
      // Before its first use it has no record: its end is forgotten with the row.
      if (issue_limit === null) continue;
      for (const { repaired } of open) if (!repaired.has(biz_tag)) repaired.set(biz_tag, this.now());
    }
  };

  /** The highest position that a row has had. */
  endOf(database: string, key: string): bigint {
    return this.ends.get(`${database} ${key}`) ?? 1n;
  }

  /** One row, or all, may have gone back: judged by what the database shows now. */
  rowsBack(engine: SimEngine, key?: string): void {
    for (const row of engine.sql<Row>(ROWS)) {
      const { biz_tag, position, deleted } = row;
      if (key !== undefined && biz_tag !== key) continue;
      if (BigInt(position) >= this.endOf(engine.name, biz_tag)) continue;
      // Of a tag with periods, the position is where periods begin that a database has lost.
      if (biz_tag === PERIODIC) this.setBack(engine, biz_tag, 4);
      else if (!isShown(row)) this.setBack(engine, biz_tag, deleted === null ? 1 : 0);
    }
  }

  /**
   * Every tag will be moved forward, because a database has lost its newest changes. Earlier moves may be lost as well.
   */
  moved(engine: SimEngine, { takenAt }: Copy): void {
    for (const { key, at, generation } of this.moves.get(engine.name) ?? []) {
      if (at > takenAt) this.setBack(engine, key, 6, generation);
    }
  }

  /** The rows of all tags, and their records, are gone. */
  allGone(engine: SimEngine): void {
    this.setBack(engine, undefined, 1);
  }

  /** An older copy is in the place of a database, on the same server or without the record of its server. */
  databaseBack(
    engine: SimEngine,
    { generation, isUsed }: Copy,
    known: ReadonlyMap<SegmentServer, number>,
    isReplica = false,
  ): void {
    if (isReplica && (generation > 0 || isUsed)) return;
    this.setBack(engine, undefined, isReplica ? 7 : 2, generation, known);
    this.committed(engine);
  }

  /** A database has answered an allocation. */
  granted(server: SegmentServer, engine: SimEngine, key: string, sentAt: number, allocation: Allocation): void {
    const [database, answeredAt, { generation }] = [engine.name, this.now(), engine];
    const name = `${server.name} ${key}`;
    // A call looks at the shares before it allocates: one of them may have come back in between.
    const began = this.beganWithout.get(name) ?? -Infinity;
    const isWhole =
      this.whole.get(name) ??
      (server.line.unanswered === 0 && answeredAt - began > LONGEST_CALL_MS && this.areThere(server, key));
    this.whole.set(name, isWhole);
    this.note(() => `${server.name}: ${database} gives ${key} ${allocation.from} to ${allocation.to}`);
    for (const { from, to } of [allocation, ...(allocation.more ?? [])]) {
      const grants = this.grants.get(key) ?? [];
      // An allocation of several tags may end in several of one.
      if (grants.some((each) => each.server === server && each.to === to && each.answeredAt === answeredAt)) continue;
      const remembers = this.recordedAt.get(name) ?? -Infinity;
      const isAbove = grants.every(
        (each) => each.server !== server || each.to < from || each.answeredAt <= remembers || each.answeredAt > sentAt,
      );
      const grant = { from, to, server, database, sentAt, answeredAt, generation, isAbove, isWhole };
      grants.push(grant);
      this.grants.set(key, grants);
    }
  }

  recorded(server: SegmentServer, key: string): void {
    this.recordedAt.set(`${server.name} ${key}`, this.now());
  }

  /** The bound that a call which begins now must exceed. */
  bound(server: SegmentServer, key: string, isStrict: boolean, isInterleaved: boolean): Bound {
    const of = (name: string): bigint => this.highest.get(`${name} ${key}`) ?? 0n;
    const name = `${server.name} ${key}`;
    if (isInterleaved && !this.whole.has(name) && !this.areThere(server, key)) this.beganWithout.set(name, this.now());
    return {
      own: of(server.name),
      all: isStrict ? of('all') : 0n,
      seat: isInterleaved ? of(`seat ${server.seat}`) : 0n,
    };
  }

  /** A server has answered a call with these IDs. */
  issued(server: SegmentServer, key: string, ranges: readonly IdRange[], bound: Bound): void {
    let last = 0n;
    const used = this.used.get(key) ?? new Map<bigint, Grant>();
    this.used.set(key, used);
    for (const { from, to } of ranges) {
      if (from <= last) this.breach('segment order', `${key}: an answer of ${server.name} does not ascend at ${from}`);
      for (let id = from; id <= to; id++) this.see(server, key, id, used, bound);
      last = to;
    }
    for (const name of [server.name, 'all', `seat ${server.seat}`]) {
      const known = this.highest.get(`${name} ${key}`) ?? 0n;
      if (last > known) this.highest.set(`${name} ${key}`, last);
    }
  }

  /** Whether each database that had a row of the tag is in the list of the server and has it, at its end. */
  private areThere({ engines }: SegmentServer, key: string): boolean {
    const listed = new Set(engines.map(({ name }) => `${name} ${key}`));
    const isElsewhere = [...this.ends].some(([name, end]) => name.endsWith(` ${key}`) && end > 1n && !listed.has(name));
    if (isElsewhere) return false;
    return engines.every((engine) => {
      const row = engine.sql<Row>(ROWS).find(({ biz_tag }) => biz_tag === key);
      const end = this.endOf(engine.name, key);
      return row === undefined ? end === 1n : BigInt(row.position) >= end;
    });
  }

  private see(server: SegmentServer, key: string, id: bigint, used: Map<bigint, Grant>, bound: Bound): void {
    this.ids++;
    const grants = this.grants.get(key) ?? [];
    const own = grants.filter((each) => each.server === server && each.from <= id && id <= each.to);
    // A server does not accept a range that is not above its own.
    const grant = own.findLast(({ isAbove }) => isAbove) ?? own.at(-1);
    if (grant === undefined) {
      this.breach('segment error', `${key}: ${server.name} issued ${id}, which no database has given to it`);
      return;
    }
    const before = used.get(id);
    const excuse = this.excuseOf(key, grant);
    if (before !== undefined) {
      const other = `${before.server.name}, given at ${before.answeredAt.toFixed(1)} ms`;
      const what = `${key}: ${server.name} issued ${id}, given at ${grant.answeredAt.toFixed(1)} ms, as did ${other}`;
      this.wrong('segment duplicate', excuse ?? this.excuseOf(key, before), what);
    }
    used.set(id, grant);
    const { own: highestOwn, all, seat } = bound;
    const what = (highest: bigint): string => `${key}: ${server.name} issued ${id} after ${highest}`;
    if (id <= highestOwn) this.wrong('segment order', excuse, what(highestOwn));
    else if (id <= all) this.wrong('segment order', excuse, what(all));
    else if (id <= seat)
      this.wrong('segment order', excuse ?? (grant.isWhole ? undefined : SEGMENT_EXCUSES[5]), what(seat));
  }

  private wrong(breach: SegmentBreach, excuse: SegmentExcuse | undefined, message: string): void {
    if (excuse === undefined) this.breach(breach, message);
    else this.excused[excuse]++;
  }

  /** The condition under which an allocation may have repeated what others have. */
  private excuseOf(key: string, grant: Grant): SegmentExcuse | undefined {
    const { server, database, sentAt, answeredAt, generation, isAbove } = grant;
    if (!isAbove) return undefined;
    for (const setback of this.setbacks) {
      if (setback.database !== database || ![undefined, key, tagOfRow(key)].includes(setback.key)) continue;
      const until = setback.repaired.get(key) ?? Infinity;
      if (answeredAt < setback.at || sentAt > until) continue;
      if (setback.excuse === 6 && generation >= setback.generation + MOVE_GENERATIONS) continue;
      if (setback.excuse !== 2 && setback.excuse !== 7) return SEGMENT_EXCUSES[setback.excuse];
      const known = setback.known.get(server) ?? 0;
      if (known <= setback.generation) return SEGMENT_EXCUSES[setback.excuse];
      if (known <= generation) return SEGMENT_EXCUSES[setback.excuse === 2 ? 3 : 7];
    }
    return undefined;
  }

  /** A period begins at the position of its tag: the move of the tag counts. */
  private noteMove(database: string, key: string, next: bigint, generation: number): void {
    const end = this.endOf(database, key);
    if (next - end < LEAST_MOVE || (end === 1n && tagOfRow(key) !== key)) return;
    const moves = this.moves.get(database) ?? [];
    this.moves.set(database, [...moves, { key, at: this.now(), generation }]);
  }

  private setBack(
    engine: SimEngine,
    key: string | undefined,
    excuse: Setback['excuse'],
    generation = 0,
    known: ReadonlyMap<SegmentServer, number> = new Map(),
  ): void {
    const [database, at] = [engine.name, this.now()];
    this.setbacks.push({ ...{ database, key, excuse, known, generation, at }, repaired: new Map() });
  }
}

/** Whether the columns show every server that the row has gone back. */
function isShown({ position, issue_limit, deleted, deleted_limit, of, remainder, block }: Row): boolean {
  if (deleted === null) return issue_limit !== null;
  if (issue_limit === null || deleted_limit === null) return true;
  const blocks = of === null ? undefined : new InterleavedBlocks({ of, remainder, block });
  const first = blocks?.atPosition(BigInt(position)).range.from ?? BigInt(position);
  return first < BigInt(deleted);
}

/** The highest IDs that were returned before a call began. */
export interface Bound {
  readonly own: bigint;
  readonly all: bigint;
  readonly seat: bigint;
}
