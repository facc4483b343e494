import type { DocumentNumber, GaplessSettings, NumberState } from '@leaf-ids/core';
import { type JournalEntry, notGapless, type NumberEvent, type NumberHead, unknownTag } from '@leaf-ids/core/internal';
import type { SqlParameter, Statement } from '../connections/session';
import { toTagRow, select, type LeafAlloc } from '../stores/stored-tag';
import type { TagDialect } from '../stores/tag-dialect';

/** Rows, or keys, in one statement: SQLite takes 32,766 parameters. */
const CHUNK = 500;

type Cell = string | number | null;

/** How a column keeps a field of `Item`. */
interface Mapped<Item> {
  readonly write: (item: Item) => SqlParameter;
  readonly isBig?: true;
}

type Mapping<Item> = Readonly<Record<string, Mapped<Item>>>;

const NUMBER: Mapping<DocumentNumber> = {
  doc_key: { write: ({ key }) => key },
  period: { write: ({ period }) => period },
  number: { write: ({ number }) => number, isBig: true },
  turn: { write: ({ turn }) => turn },
  state: { write: ({ state }) => state },
  issued_at: { write: ({ issuedAt }) => issuedAt },
  issued_by: { write: ({ issuedBy }) => issuedBy },
  settled_at: { write: ({ settledAt }) => settledAt ?? null },
  settled_by: { write: ({ settledBy }) => settledBy ?? null },
  reason: { write: ({ reason }) => reason ?? null },
};

const LINE: Mapping<JournalEntry> = {
  period: { write: ({ period }) => period },
  position: { write: ({ position }) => position },
  event: { write: ({ event }) => event },
  number: { write: ({ number }) => number, isBig: true },
  turn: { write: ({ turn }) => turn },
  doc_key: { write: ({ key }) => key },
  at_time: { write: ({ at }) => at },
  by_name: { write: ({ by }) => by },
  reason: { write: ({ reason }) => reason ?? null },
  hash: { write: ({ hash }) => hash },
};

export interface StoredHead extends NumberHead {
  /**
   * The `count` of the epoch in which it was last certain. Negative once a server has seen that the history is lost: the
   * time at which it was seen, in Unix seconds.
   */
  readonly epoch: number;
}

/** The statements on the tables of gapless numbers, on one connection, inside a transaction or not. */
export class NumberRows {
  constructor(
    private readonly statement: Statement,
    private readonly dialect: TagDialect,
  ) {}

  /**
   * @param lock whether to lock the row until the end of the transaction
   * @throws LeafError `LEAF_TAG_NOT_FOUND`, `LEAF_TAG_NOT_GAPLESS`, `LEAF_TAG_ROW_INVALID`
   */
  async settings(tag: string, lock: boolean): Promise<GaplessSettings> {
    const { dialect } = this;
    const sql = `${select(dialect)} WHERE ${dialect.thisTag} ${lock ? dialect.forUpdate : ''}`;
    const [row] = await this.ask<LeafAlloc>(sql, dialect.key(tag));
    if (row === undefined) throw unknownTag(tag);
    return settingsOf(row);
  }

  /** The numbers of those keys that have one. */
  async byKeys(tag: string, keys: readonly string[], lock: boolean): Promise<Map<string, DocumentNumber>> {
    const found = new Map<string, DocumentNumber>();
    for (const part of chunks(keys)) {
      const rows = await this.numbers(`doc_key IN (${marks(part)}) ${lock ? this.dialect.forUpdate : ''}`, [
        tag,
        ...part,
      ]);
      for (const row of rows) found.set(row.key, row);
    }
    return found;
  }

  /** @param rest the conditions after that on the tag, and the order */
  async numbers(rest: string, parameters: readonly SqlParameter[]): Promise<DocumentNumber[]> {
    const rows = await this.ask<Record<string, Cell>>(
      `SELECT ${this.columns(NUMBER)} FROM leaf_number WHERE biz_tag = ? AND ${rest}`,
      parameters,
    );
    return rows.map(toNumber);
  }

  /** @param rest as of {@link numbers} */
  async lines(rest: string, parameters: readonly SqlParameter[]): Promise<JournalEntry[]> {
    const rows = await this.ask<Record<string, Cell>>(
      `SELECT ${this.columns(LINE)} FROM leaf_number_journal WHERE biz_tag = ? AND ${rest}`,
      parameters,
    );
    return rows.map(toLine);
  }

  async heads(tag: string, periods: readonly string[], lock: boolean): Promise<Map<string, StoredHead>> {
    const { textOf, forUpdate } = this.dialect;
    const rows = await this.ask<Record<string, Cell>>(
      `SELECT period, ${textOf('next_number')} AS next_number, position, hash, issued_at, epoch, continued FROM leaf_number_head
       WHERE biz_tag = ? AND period IN (${marks(periods)}) ${lock ? forUpdate : ''}`,
      [tag, ...periods],
    );
    return new Map(
      rows.map(({ period, next_number, position, hash, issued_at, epoch, continued }) => [
        String(period),
        {
          next: BigInt(next_number ?? 0),
          position: Number(position),
          hash: String(hash),
          issuedAt: Number(issued_at),
          epoch: Number(epoch),
          continued: Number(continued),
        },
      ]),
    );
  }

  /** @param isNew whether the table has no row of it */
  async writeHead(tag: string, period: string, head: StoredHead, isNew: boolean): Promise<void> {
    const { next, position, hash, issuedAt, epoch, continued } = head;
    const values = [next, position, hash, issuedAt, epoch, continued, tag, period];
    const sql = isNew
      ? `INSERT INTO leaf_number_head (next_number, position, hash, issued_at, epoch, continued, biz_tag, period) VALUES (${marks(values)})`
      : `UPDATE leaf_number_head SET next_number = ?, position = ?, hash = ?, issued_at = ?, epoch = ?, continued = ?
         WHERE biz_tag = ? AND period = ?`;
    await this.run(sql, values);
  }

  /**
   * From now on, every server knows that the history of the tag is lost.
   *
   * @param now Unix milliseconds
   */
  async markLost(tag: string, now: number): Promise<void> {
    await this.run('UPDATE leaf_number_head SET epoch = ? WHERE biz_tag = ?', [-Math.floor(now / 1000), tag]);
  }

  insertNumbers(tag: string, numbers: readonly DocumentNumber[]): Promise<void> {
    return this.insert('leaf_number', NUMBER, tag, numbers);
  }

  insertLines(tag: string, lines: readonly JournalEntry[]): Promise<void> {
    return this.insert('leaf_number_journal', LINE, tag, lines);
  }

  /** Writes what became of numbers, those that became the same together. */
  async settle(tag: string, numbers: readonly DocumentNumber[]): Promise<void> {
    const groups = new Map<string, DocumentNumber[]>();
    for (const number of numbers) {
      const { state, settledAt, settledBy, reason } = number;
      const kind = JSON.stringify([state, settledAt, settledBy, reason]);
      groups.set(kind, [...(groups.get(kind) ?? []), number]);
    }
    for (const [kind, group] of groups) {
      const settled = JSON.parse(kind) as SqlParameter[];
      for (const part of chunks(group)) {
        await this.run(
          `UPDATE leaf_number SET state = ?, settled_at = ?, settled_by = ?, reason = ?
           WHERE biz_tag = ? AND doc_key IN (${marks(part)})`,
          [...settled, tag, ...part.map(({ key }) => key)],
        );
      }
    }
  }

  private async insert<Item>(
    table: string,
    mapping: Mapping<Item>,
    tag: string,
    items: readonly Item[],
  ): Promise<void> {
    const columns = Object.entries(mapping);
    const row = `(${marks(['', ...columns])})`;
    for (const part of chunks(items)) {
      await this.run(
        `INSERT INTO ${table} (biz_tag, ${columns.map(([name]) => name).join(', ')}) VALUES ${part.map(() => row).join(', ')}`,
        part.flatMap((item) => [tag, ...columns.map(([, { write }]) => write(item))]),
      );
    }
  }

  private columns<Item>(mapping: Mapping<Item>): string {
    const { textOf } = this.dialect;
    return (
      Object.entries(mapping)
        // Under another name: ORDER BY would sort the text.
        .map(([name, { isBig }]) => (isBig === true ? `${textOf(name)} AS ${name}_text` : name))
        .join(', ')
    );
  }

  private ask<Row>(sql: string, parameters: readonly SqlParameter[]): Promise<Row[]> {
    return this.statement<Row[]>(this.dialect.text(sql), [...parameters]);
  }

  private async run(sql: string, parameters: readonly SqlParameter[]): Promise<void> {
    await this.statement(this.dialect.text(sql), [...parameters]);
  }
}

/** @throws LeafError `LEAF_TAG_NOT_GAPLESS`, `LEAF_TAG_ROW_INVALID` */
function settingsOf(stored: LeafAlloc): GaplessSettings {
  const { tag, order, reset, zone, maxId, max, pattern, reissue = false } = toTagRow(stored);
  if (order !== 'gapless') throw notGapless(tag);
  return { reset, zone, first: maxId, max, pattern, reissue };
}

function toNumber(row: Record<string, Cell>): DocumentNumber {
  return {
    key: String(row.doc_key),
    period: String(row.period),
    number: BigInt(row.number_text ?? 0),
    turn: Number(row.turn),
    state: String(row.state) as NumberState,
    issuedAt: Number(row.issued_at),
    issuedBy: String(row.issued_by),
    settledAt: isNil(row.settled_at) ? undefined : Number(row.settled_at),
    settledBy: isNil(row.settled_by) ? undefined : String(row.settled_by),
    reason: isNil(row.reason) ? undefined : String(row.reason),
  };
}

function toLine(row: Record<string, Cell>): JournalEntry {
  return {
    period: String(row.period),
    position: Number(row.position),
    event: String(row.event) as NumberEvent,
    number: BigInt(row.number_text ?? 0),
    turn: Number(row.turn),
    key: String(row.doc_key),
    at: Number(row.at_time),
    by: String(row.by_name),
    reason: isNil(row.reason) ? undefined : String(row.reason),
    hash: String(row.hash),
  };
}

function isNil(cell: Cell | undefined): cell is null | undefined {
  return cell === null || cell === undefined;
}

function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

function* chunks<Item>(items: readonly Item[]): Generator<readonly Item[], void> {
  for (let from = 0; from < items.length; from += CHUNK) yield items.slice(from, from + CHUNK);
}
