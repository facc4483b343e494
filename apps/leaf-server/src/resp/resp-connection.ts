import type { Socket } from 'node:net';
import type { Clock } from '@leaf-ids/core';
import type { AccessLines } from '../http/access-log';
import type { RequestCount, RequestCounts } from '../http/request-counts';
import type { IdleTimer } from '../connections/idle-timer';
import { PacedConnection } from '../connections/paced-connection';
import type { Drain } from '../lifecycle/drain';
import type { CommandTable, ConnectionState, Outcome, Reply } from './command-table';
import { CommandParser, ProtocolFault } from './command-parser';
import type { TurnBudget } from './turn-budget';

/** Commands, empty lines included, between two clock reads. */
const CLOCK_EVERY = 32;
/** Characters of replies that are written at once. */
const WRITE_SIZE = 16_384;
/** Time for the client to read the last replies and to close, in milliseconds. */
const LAST_READ_MS = 2000;
/** Pause between two chunks that are discarded meanwhile, in milliseconds. */
const DISCARD_PAUSE_MS = 10;

export interface ConnectionParts {
  readonly table: CommandTable;
  readonly counts: RequestCounts;
  readonly clock: Clock;
  readonly timer: IdleTimer;
  readonly budget: TurnBudget;
  /** Time without any transfer after which an unfinished connection is closed, in milliseconds. */
  readonly stallMs: number;
  readonly drain: Pick<Drain, 'active'>;
  /** Undefined: commands are not logged. */
  readonly lines: AccessLines | undefined;
}

/**
 * Answers the commands of one connection, one after the other, in their order. The replies to all commands of a chunk
 * are written together.
 */
export class RespConnection extends PacedConnection {
  private readonly parser = new CommandParser();
  /** Replies that are not written yet. */
  private replies = '';
  /** The rest of a long reply. */
  private rest: Iterator<string, undefined> | undefined;
  private answered = false;
  /** Whether the client has sent all of its commands. */
  private complete = false;
  private ended = false;
  /** Replies of one kind, in this slice. */
  private tally: { readonly count: RequestCount; times: number } | undefined;

  constructor(
    socket: Socket,
    private readonly state: ConnectionState,
    private readonly parts: ConnectionParts,
  ) {
    super(socket, parts.timer);
    // A connection beyond the limit has less time.
    socket.on('timeout', () => socket.destroy());
  }

  get idleLimitMs(): number {
    return this.isStalled ? this.parts.stallMs : Infinity;
  }

  onIdle(): void {
    this.socket.destroy();
  }

  protected receive(chunk: Buffer): void {
    if (this.ended) void this.discard();
    else this.parser.push(chunk);
  }

  /** What the client sent before is answered. Node.js can report this during a pause, too. */
  protected onInputEnd(): void {
    this.complete = true;
    if (!this.isPaused()) this.end();
  }

  /** Whether a command is in progress, or replies are not sent yet. */
  get busy(): boolean {
    return this.isPaused() || this.socket.writableLength > 0;
  }

  /** Whether the client sends a command too slowly, or does not read. */
  private get isStalled(): boolean {
    return this.socket.writableLength > 0 || (!this.isPaused() && this.parser.pending > 0);
  }

  private waitForTurn(isInterrupted: boolean): void {
    this.stop('turn');
    this.parts.budget.wait(() => this.resume('turn'), isInterrupted);
  }

  protected work(): void {
    if (this.ended) return;
    const { clock, budget } = this.parts;
    const begunAt = clock.monotonic();
    if (!budget.admits(begunAt)) {
      this.waitForTurn(this.rest !== undefined);
      return;
    }
    let steps = 0;
    while (!this.isPaused() && this.step(begunAt)) {
      const isLong = this.replies.length >= WRITE_SIZE;
      if (isLong) this.flush();
      if (
        !this.isPaused() &&
        (this.rest !== undefined || isLong || ++steps % CLOCK_EVERY === 0) &&
        !budget.admits(clock.monotonic(), begunAt)
      ) {
        this.waitForTurn(true);
      }
    }
    this.flush();
    this.record(begunAt);
    if (this.isPaused()) return;
    if (this.state.ending || this.complete || (this.answered && this.parts.drain.active)) this.end();
    else this.readOn();
  }

  /** Answers the next command, or writes the next part of a reply. Returns false when there is none. */
  private step(begunAt: number): boolean {
    if (this.rest !== undefined) {
      const { value } = this.rest.next();
      if (value === undefined) this.rest = undefined;
      else this.replies += value;
      return true;
    }
    if (this.state.ending) return false;
    const words = this.read();
    if (words === undefined) return false;
    if (words instanceof ProtocolFault) {
      this.state.ending = true;
      this.answer(this.parts.table.fault(words.message), begunAt);
    } else if (words.length > 0) {
      const outcome = this.parts.table.run(words, this.state);
      if (outcome instanceof Promise) void this.wait(outcome);
      else this.answer(outcome, begunAt);
    }
    return true;
  }

  private read(): string[] | ProtocolFault | undefined {
    try {
      return this.parser.next();
    } catch (error) {
      if (error instanceof ProtocolFault) return error;
      throw error;
    }
  }

  private async wait(outcome: Promise<Outcome>): Promise<void> {
    const begunAt = this.parts.clock.monotonic();
    this.stop('answer');
    this.answer(await outcome, begunAt);
    this.record(begunAt);
    this.resume('answer');
  }

  private answer({ count, reply }: Outcome, begunAt: number): void {
    this.answered = true;
    this.write(reply);
    if (this.tally?.count === count) {
      this.tally.times++;
    } else {
      this.record(begunAt);
      this.tally = { count, times: 1 };
    }
    this.log(count, begunAt);
  }

  private write(reply: Reply): void {
    if (typeof reply === 'string') this.replies += reply;
    else this.rest = reply;
  }

  private flush(): void {
    const { replies } = this;
    this.replies = '';
    this.send(replies);
  }

  private record(begunAt: number): void {
    if (this.tally === undefined) return;
    const { counts, clock } = this.parts;
    counts.record(this.tally.count, clock.monotonic() - begunAt, this.tally.times);
    this.tally = undefined;
  }

  private log({ route, status }: RequestCount, begunAt: number): void {
    const { lines, clock } = this.parts;
    if (lines?.draw() !== true) return;
    const { address } = this.state;
    lines.write(clock.monotonic() - begunAt, (ms) => ({ method: 'RESP', route, status, ms, address }));
  }

  /** Sends the replies, then closes. A connection closed with unread bytes would lose replies: it reads until then. */
  private end(): void {
    if (this.ended) return;
    this.ended = true;
    this.flush();
    this.socket.end();
    this.socket.resume();
    const closed = new AbortController();
    this.socket.once('close', () => closed.abort());
    void this.parts.clock.sleep(LAST_READ_MS, closed.signal).then(() => this.socket.destroy());
  }

  /** Drops a chunk that arrived after the end. A client that sends without an end must not keep the server busy. */
  private async discard(): Promise<void> {
    this.socket.pause();
    await this.parts.clock.sleep(DISCARD_PAUSE_MS);
    this.socket.resume();
  }
}
