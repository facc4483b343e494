import type { Clock, DocumentNumber, GaplessSettings, LeafError, NumberAnswer } from '@leaf-ids/core';
import {
  type Continuation,
  type JournalEntry,
  JournalSeal,
  type NumberHead,
  NumberLedger,
  type NumberPage,
  type NumberRequest,
  NumberStore,
  type OpenNumbers,
  unknownTag,
} from '@leaf-ids/core/internal';

/** The numbers of the tag `invoice`, by the rules of the product. */
export class InMemoryNumberStore extends NumberStore {
  readonly seal = new JournalSeal();
  /** By key. */
  readonly rows = new Map<string, DocumentNumber>();
  readonly lines: JournalEntry[] = [];
  readonly heads = new Map<string, NumberHead>();
  /** The keys of the calls of each transaction, committed or not. */
  readonly transactions: string[][][] = [];
  row: GaplessSettings;
  /** How often the settings were read. */
  reads = 0;
  /** Resolves when the database goes on. */
  line: () => Promise<void> = () => Promise.resolve();

  constructor(
    private readonly clock: Clock,
    settings: Partial<GaplessSettings> = {},
  ) {
    super();
    this.row = {
      ...{ reset: undefined, zone: undefined, first: 1n, max: undefined, pattern: undefined, reissue: false },
      ...settings,
    };
  }

  async settings(tag: string): Promise<GaplessSettings> {
    this.reads++;
    await this.line();
    if (tag !== 'invoice') throw unknownTag(tag);
    return this.row;
  }

  async carryOut(
    _tag: string,
    _settings: GaplessSettings,
    calls: readonly (readonly NumberRequest[])[],
  ): Promise<(NumberAnswer[] | LeafError)[]> {
    this.transactions.push(calls.map((call) => call.map(({ key }) => key)));
    await this.line();
    const ledger = this.ledger(calls.flat().flatMap((request) => (request.act === 'issue' ? request.period : [])));
    const answers = calls.map((call) => {
      try {
        return ledger.carryOut(call);
      } catch (error) {
        return error as LeafError;
      }
    });
    this.write(ledger);
    return answers;
  }

  async carryOutWithin(
    _statement: unknown,
    tag: string,
    settings: GaplessSettings,
    requests: readonly NumberRequest[],
  ): Promise<NumberAnswer[]> {
    const [answers] = await this.carryOut(tag, settings, [requests]);
    if (answers === undefined || answers instanceof Error) throw answers ?? new Error('no answer');
    return answers;
  }

  async continueAfter(_tag: string, { period, lastNumber, by, reason }: Continuation): Promise<number> {
    await this.line();
    const ledger = this.ledger([period]);
    const skipped = ledger.skip(period, lastNumber, by, reason);
    this.write(ledger);
    return skipped;
  }

  async find(_tag: string, key: string): Promise<DocumentNumber | undefined> {
    await this.line();
    return this.rows.get(key);
  }

  async list(_tag: string, { period, limit }: NumberPage): Promise<DocumentNumber[]> {
    await this.line();
    return [...this.rows.values()].filter((row) => period === undefined || row.period === period).slice(0, limit);
  }

  async journal(_tag: string, period: string, after: number, limit: number): Promise<JournalEntry[]> {
    await this.line();
    return this.lines.filter((line) => line.period === period && line.position > after).slice(0, limit);
  }

  async linesOf(_tag: string, period: string, from: bigint, to: bigint): Promise<JournalEntry[]> {
    await this.line();
    return this.lines.filter((line) => line.period === period && line.number >= from && line.number <= to);
  }

  async rowsOf(_tag: string, period: string, from: bigint, to: bigint, limit: number): Promise<DocumentNumber[]> {
    await this.line();
    const found = [...this.rows.values()].filter(
      (row) => row.period === period && row.number >= from && row.number <= to,
    );
    return found.sort((a, b) => Number(a.number - b.number) || a.turn - b.turn).slice(0, limit);
  }

  async headOf(_tag: string, period: string): Promise<NumberHead | undefined> {
    await this.line();
    return this.heads.get(period);
  }

  async open(): Promise<OpenNumbers[]> {
    await this.line();
    const open = [...this.rows.values()].filter(({ state }) => state === 'issued');
    return [{ tag: 'invoice', count: open.length, oldest: open[0]?.issuedAt, lines: this.lines.length }];
  }

  private ledger(periods: readonly string[]): NumberLedger {
    const { first, reissue } = this.row;
    const start: NumberHead = { next: first, position: 0, hash: '', issuedAt: 0, continued: 0 };
    const wanted = new Set(periods);
    const heads = new Map([...Array.from(wanted, (period) => [period, start] as const), ...this.heads]);
    const free = new Map<string, DocumentNumber[]>();
    for (const period of reissue ? wanted : []) free.set(period, this.voidOf(period));
    const state = { settings: this.row, known: this.rows, heads, free };
    return new NumberLedger('invoice', state, this.seal, this.clock.now());
  }

  private voidOf(period: string): DocumentNumber[] {
    return [...this.rows.values()].filter((row) => row.period === period && row.state === 'void');
  }

  private write({ written, heads, entries }: NumberLedger): void {
    for (const [key, row] of written) this.rows.set(key, row);
    for (const [period, head] of heads) this.heads.set(period, head);
    this.lines.push(...entries);
  }
}
