import type { DocumentNumber, GaplessSettings, LeafError, NumberAnswer, TransactionStatement } from '@leaf-ids/core';
import {
  type Continuation,
  type JournalEntry,
  JournalSeal,
  type NumberHead,
  type NumberPage,
  type NumberRequest,
  NumberStore,
  type OpenNumbers,
} from '@leaf-ids/core/internal';
import type { Shards } from './shards';

/** The gapless tags of several databases; each is in one of them. */
export class ShardedNumberStore extends NumberStore {
  constructor(
    private readonly shards: Shards,
    readonly seal: JournalSeal,
  ) {
    super();
  }

  async settings(tag: string): Promise<GaplessSettings> {
    return this.of(tag).settings(tag);
  }

  async carryOut(
    tag: string,
    settings: GaplessSettings,
    calls: readonly (readonly NumberRequest[])[],
  ): Promise<(NumberAnswer[] | LeafError)[]> {
    return this.of(tag).carryOut(tag, settings, calls);
  }

  async carryOutWithin(
    statement: TransactionStatement,
    tag: string,
    settings: GaplessSettings,
    requests: readonly NumberRequest[],
  ): Promise<NumberAnswer[]> {
    return this.of(tag).carryOutWithin(statement, tag, settings, requests);
  }

  async continueAfter(tag: string, where: Continuation): Promise<number> {
    return this.of(tag).continueAfter(tag, where);
  }

  async find(tag: string, key: string): Promise<DocumentNumber | undefined> {
    return this.of(tag).find(tag, key);
  }

  async list(tag: string, page: NumberPage): Promise<DocumentNumber[]> {
    return this.of(tag).list(tag, page);
  }

  async journal(tag: string, period: string, after: number, limit: number): Promise<JournalEntry[]> {
    return this.of(tag).journal(tag, period, after, limit);
  }

  async linesOf(tag: string, period: string, from: bigint, to: bigint): Promise<JournalEntry[]> {
    return this.of(tag).linesOf(tag, period, from, to);
  }

  async rowsOf(tag: string, period: string, from: bigint, to: bigint, limit: number): Promise<DocumentNumber[]> {
    return this.of(tag).rowsOf(tag, period, from, to, limit);
  }

  async headOf(tag: string, period: string): Promise<NumberHead | undefined> {
    return this.of(tag).headOf(tag, period);
  }

  /** Of the databases that respond. */
  async open(): Promise<OpenNumbers[]> {
    const all = await Promise.allSettled(this.shards.all.map(async ({ stores }) => stores.numbers.open()));
    return all.flatMap((open) => (open.status === 'fulfilled' ? open.value : []));
  }

  private of(tag: string): NumberStore {
    return this.shards.of(tag).stores.numbers;
  }
}
