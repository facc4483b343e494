import type { Clock, NewTag } from '@leaf-ids/core';
import type { SeededRandom } from '../../../support/seeded-random';
import type { SegmentFault, SegmentFaultKind } from './segment-faults';
import type { SegmentLedger } from './segment-ledger';
import { type SegmentServer, storesOf } from './segment-server';
import { accessTo, Line } from './sim-connection';
import type { Copy, SimEngine } from './sim-engine';

/** Faults that put an older state in the place of a newer one. */
const OF_COPIES: readonly SegmentFaultKind[] = [
  'row restored',
  'period row restored',
  'database older',
  'database older, restore command',
  'failover',
];
/** At their end, the rows are inserted by hand. */
const OF_ABSENCE: readonly SegmentFaultKind[] = [
  'row deleted for a while',
  'share deleted for a while',
  'table truncated',
  'table and records truncated',
];
const NO_PERIODS = "biz_tag NOT LIKE '%@%'";

/** What faults happen to. */
export interface SegmentParts {
  readonly clock: Clock;
  readonly random: SeededRandom;
  readonly ledger: SegmentLedger;
  /** All databases, and those of the list of servers in its order. */
  readonly engines: readonly SimEngine[];
  readonly list: readonly SimEngine[];
  readonly servers: readonly SegmentServer[];
  readonly tags: readonly NewTag[];
  /** Starts a new process in a seat, with the list of databases unless told. */
  start(seat: number, engines?: readonly SimEngine[]): void;
  note(text: string): void;
}

/** Lets faults happen to the servers and databases of a world, and ends them. */
export class SegmentInjector {
  /** The tags as they were created, by database. */
  private readonly created: ReadonlyMap<SimEngine, Copy>;
  private readonly copies = new Map<SegmentFault, Copy>();
  private readonly begun = new Set<SegmentFault>();

  constructor(private readonly world: SegmentParts) {
    this.created = new Map(world.list.flatMap((engine) => pair(engine, engine.copy())));
  }

  /** Takes the copies that later faults restore. */
  prepare(schedule: readonly SegmentFault[], step: number): void {
    for (const fault of schedule) {
      if (this.copies.has(fault) || fault.from > step || fault.at <= step || !OF_COPIES.includes(fault.kind)) continue;
      const copy = this.engine(fault).copy();
      if (copy !== undefined) this.copies.set(fault, copy);
    }
  }

  inject(fault: SegmentFault): void {
    const { world } = this;
    const engine = this.engine(fault);
    const server = world.servers[fault.server]!;
    const copy = this.copies.get(fault);
    this.begun.add(fault);
    switch (fault.kind) {
      case 'server killed':
        server.kill();
        world.start(fault.server);
        break;
      case 'server stopped':
        server.generator.close().catch(() => undefined);
        world.start(fault.server);
        break;
      case 'line bad':
        server.line.isBad = true;
        break;
      case 'database down':
        engine.isDown = true;
        break;
      case 'list of databases changed':
        server.generator.close().catch(() => undefined);
        world.start(fault.server, this.otherList(fault));
        break;
      case 'row restored':
      case 'period row restored':
        if (copy !== undefined) this.restoreRow(engine, copy, this.rowOf(fault, engine));
        break;
      case 'row inserted again': {
        const tag = this.rowOf(fault, engine);
        this.remove(engine, tag);
        this.insert(engine, fault, tag);
        break;
      }
      case 'row deleted for a while':
      case 'share deleted for a while':
      case 'period row deleted':
        this.remove(engine, this.rowOf(fault, engine));
        break;
      case 'table truncated':
        engine.change('DELETE FROM leaf_alloc');
        break;
      case 'table and records truncated':
        engine.change('DELETE FROM leaf_alloc', 'DELETE FROM leaf_deleted_tag');
        world.ledger.allGone(engine);
        break;
      case 'database older':
        if (copy !== undefined) this.replace(engine, copy);
        break;
      case 'database older, restore command':
        if (copy !== undefined) this.restoreByCommand(engine, copy);
        break;
      case 'failover':
        if (copy !== undefined) this.promote(engine, copy);
        break;
      case 'tag deleted and created': {
        const { tags } = server;
        const tag = world.tags.find((each) => each.tag === (fault.tag % 2 === 0 ? 'plain' : 'spread'));
        if (tag === undefined) break;
        const again = tags.remove(tag.tag).then(() => tags.create(tag));
        again.catch((error: unknown) => world.note(`not deleted or not created: ${String(error)}`));
        break;
      }
    }
  }

  end(fault: SegmentFault): void {
    if (!this.begun.delete(fault)) return;
    const { kind } = fault;
    const engine = this.engine(fault);
    const server = this.world.servers[fault.server]!;
    if (kind === 'line bad') server.line.isBad = false;
    if (kind === 'database down') engine.isDown = false;
    if (OF_ABSENCE.includes(kind)) this.insert(engine, fault);
    if (kind !== 'list of databases changed') return;
    server.generator.close().catch(() => undefined);
    this.world.start(fault.server);
  }

  /** What an operator does at last: nothing is bad, down or missing. */
  setRight(): void {
    for (const { line } of this.world.servers) line.isBad = false;
    for (const engine of this.world.engines) engine.isDown = false;
    for (const engine of this.created.keys()) this.insert(engine);
  }

  private engine({ database }: SegmentFault): SimEngine {
    return this.world.list[database]!;
  }

  /** Another order, and often one database more or less. */
  private otherList({ tag, place }: SegmentFault): SimEngine[] {
    const all = [...this.world.engines].reverse();
    const size = tag % 3 === 0 ? all.length : all.length - 1;
    const first = Math.floor(place * (all.length - size + 1));
    return all.slice(first, first + Math.max(1, size));
  }

  private rowOf({ kind, tag }: SegmentFault, engine: SimEngine): string | undefined {
    if (kind === 'share deleted for a while') return 'spread';
    const isPeriod = kind === 'period row deleted' || kind === 'period row restored';
    const condition = isPeriod ? `NOT (${NO_PERIODS})` : NO_PERIODS;
    const rows = engine.sql<{ biz_tag: string }>(`SELECT biz_tag FROM leaf_alloc WHERE ${condition} ORDER BY biz_tag`);
    return rows[tag % Math.max(1, rows.length)]?.biz_tag;
  }

  private remove(engine: SimEngine, row: string | undefined): void {
    if (row !== undefined) engine.change(`DELETE FROM leaf_alloc WHERE biz_tag = '${row}'`);
  }

  /** Inserts the tags that are missing by hand: somewhere between their first ID and the next one. */
  private insert(engine: SimEngine, { place }: Pick<SegmentFault, 'place'> = { place: 1 }, only?: string): void {
    const copy = this.created.get(engine);
    if (copy === undefined) return;
    // Rolls back open transactions first: they may have changed rows.
    engine.change();
    const rows = engine.sql<{ biz_tag: string }>(
      `SELECT biz_tag FROM copy_${copy.number}_leaf_alloc WHERE biz_tag NOT IN (SELECT biz_tag FROM leaf_alloc)`,
    );
    for (const { biz_tag: tag } of rows) {
      if (only !== undefined && only !== tag) continue;
      const end = this.world.ledger.endOf(engine.name, tag);
      const position = 1n + BigInt(Math.floor(Number(end - 1n) * place));
      engine.change(
        `INSERT INTO leaf_alloc SELECT * FROM copy_${copy.number}_leaf_alloc WHERE biz_tag = '${tag}'`,
        `UPDATE leaf_alloc SET max_id = CASE WHEN next_id IS NULL THEN ${position} ELSE max_id END,
          next_id = CASE WHEN next_id IS NULL THEN NULL ELSE ${position} END WHERE biz_tag = '${tag}'`,
      );
      this.world.ledger.rowsBack(engine, tag);
    }
  }

  private restoreRow(engine: SimEngine, { number }: Copy, row: string | undefined): void {
    if (row === undefined) return;
    const older = `FROM copy_${number}_leaf_alloc WHERE biz_tag = '${row}'`;
    if (engine.sql(`SELECT 1 ${older}`).length === 0) return;
    engine.change(`DELETE FROM leaf_alloc WHERE biz_tag = '${row}'`, `INSERT INTO leaf_alloc SELECT * ${older}`);
    this.world.ledger.rowsBack(engine, row);
  }

  private replace(engine: SimEngine, copy: Copy): void {
    const known = this.generations(engine);
    engine.restore(copy);
    this.world.ledger.moved(engine, copy);
    this.world.ledger.databaseBack(engine, copy, known);
  }

  private promote(engine: SimEngine, copy: Copy): void {
    const known = this.generations(engine);
    engine.promote(copy);
    this.world.ledger.moved(engine, copy);
    this.world.ledger.databaseBack(engine, copy, known, true);
  }

  /** What each server knows of a database. */
  private generations(engine: SimEngine): ReadonlyMap<SegmentServer, number> {
    const { servers } = this.world;
    return new Map(servers.flatMap((server) => pair(server, server.stores.get(engine.name)?.guard.generation)));
  }

  /** The database is down while the operator prepares it. */
  private restoreByCommand(engine: SimEngine, copy: Copy): void {
    const { clock, random } = this.world;
    engine.isDown = true;
    engine.restore(copy);
    this.world.ledger.moved(engine, copy);
    const { guard } = storesOf(accessTo(engine, new Line(true), clock, random));
    const move = (): Promise<unknown> => guard.restored().catch(move);
    void move().then(() => (engine.isDown = false));
  }
}

function pair<Key, Value>(key: Key, value: Value | undefined): [Key, Value][] {
  return value === undefined ? [] : [[key, value]];
}
