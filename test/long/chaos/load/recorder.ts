import type { History, Mode } from '../history/history';
import type { Judge } from '../history/judge';
import { isGone, isPassing } from '../history/passing-tags';
import { Slots } from '../history/slots';
import type { LeafProcess } from '../world/leaf-process';

export interface IdRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** The books of one run, and its time. */
export class Books {
  /** Of clients of all servers. */
  readonly clients = { segment: new Slots(), snowflake: new Slots() };
  /** Of callers of one server each. */
  readonly callers = { segment: new Slots(), snowflake: new Slots() };
  private readonly began = performance.now();

  constructor(
    readonly history: History,
    readonly judge: Judge,
  ) {}

  /** Milliseconds since the run began. */
  now(): number {
    return performance.now() - this.began;
  }
}

/** The page of one caller. */
export class Recorder {
  /** The latest question that IDs came for, in milliseconds since the run began. */
  lastAnswerAt = 0;
  private readonly index: number;
  private readonly slots: Slots;

  /** @param server undefined for a client of all servers */
  constructor(
    private readonly books: Books,
    readonly name: string,
    readonly mode: Mode,
    readonly server: LeafProcess | undefined,
  ) {
    this.index = books.history.addCaller(`${name} ${mode}`);
    this.slots = (server === undefined ? books.clients : books.callers)[mode];
  }

  now(): number {
    return this.books.now();
  }

  /**
   * IDs came, in this order.
   *
   * @param tag the one that was asked for; undefined in snowflake mode
   */
  answered(space: string, ranges: readonly IdRange[], startedAt: number, tag: string | undefined): void {
    const at = this.now();
    for (const { from, to } of ranges) this.books.history.add(space, { from, to, caller: this.index, at });
    if (!isPassing(tag)) this.slots.add(startedAt, true);
    // A client asks several questions at once: an earlier one may be answered after a later one.
    this.lastAnswerAt = Math.max(this.lastAnswerAt, startedAt);
  }

  /** @param tag the one that was asked for; undefined in snowflake mode */
  failed(code: string, startedAt: number, tag: string | undefined): void {
    if (isGone(tag, code)) return;
    const { name, mode, server } = this;
    if (!isPassing(tag)) this.slots.add(startedAt, false);
    this.books.judge.note({ server, caller: name, mode, tag, code, startedAt, endedAt: this.now() });
  }

  disorder(what: string): void {
    this.books.history.disorder(`${this.name} at ${Math.round(this.now())} ms: ${what}`);
  }
}
