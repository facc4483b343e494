import type { Socket } from 'node:net';
import type { IdleTimer, Timed } from './idle-timer';

/** Time without any transfer, beyond the longest wait of a request, after which a connection is closed, in milliseconds. */
export const STALL_MS = 15_000;

/** Why a connection answers nothing: it waits for an answer, for room in the network, or for its next turn. */
type Pause = 'answer' | 'room' | 'turn';

/**
 * A connection that answers what it reads, one request after the other. While a request waits, or
 * the client does not read, at most what was already read stays in memory; backpressure holds the rest.
 */
export abstract class PacedConnection implements Timed {
  movedAt: number;
  private readonly pauses = new Set<Pause>();

  constructor(
    protected readonly socket: Socket,
    private readonly timer: IdleTimer,
  ) {
    timer.add(this);
    this.movedAt = timer.now;
    socket.on('data', this.onData).on('drain', this.onDrain).on('end', this.onEnd).on('close', this.onClose);
    // The client has closed the connection or lost it.
    socket.on('error', this.onError);
  }

  abstract readonly idleLimitMs: number;

  abstract onIdle(): void;

  /** Keeps what was read. {@link work} follows at once, or after the pauses. */
  protected abstract receive(chunk: Buffer): void;

  /** Answers what was read, until a pause or the end of it; then {@link readOn}. */
  protected abstract work(): void;

  /** The client sends no more. It may still read. */
  protected abstract onInputEnd(): void;

  protected isPaused(): boolean {
    return this.pauses.size > 0;
  }

  /** Pauses without holding back the client: its end is noticed. */
  protected hold(until: Pause): void {
    this.pauses.add(until);
  }

  protected stop(until: Pause): void {
    this.pauses.add(until);
    this.socket.pause();
  }

  protected resume(from: Pause): void {
    this.movedAt = this.timer.now;
    if (this.pauses.delete(from) && this.pauses.size === 0 && !this.socket.destroyed) this.work();
  }

  protected readOn(): void {
    if (this.pauses.size === 0 && this.socket.isPaused()) this.socket.resume();
  }

  /**
   * Writes responses; pauses for `drain` if the write buffer is full.
   *
   * @param text latin1
   */
  protected send(text: string): void {
    const { socket } = this;
    if (text === '' || socket.destroyed || socket.write(text, 'latin1')) return;
    this.stop('room');
  }

  /** The socket is for another reader from now on. */
  protected detach(): void {
    const { socket } = this;
    this.timer.delete(this);
    socket.off('data', this.onData).off('drain', this.onDrain).off('end', this.onEnd).off('close', this.onClose);
    socket.off('error', this.onError);
  }

  private readonly onData = (chunk: Buffer): void => {
    this.movedAt = this.timer.now;
    this.receive(chunk);
    if (this.pauses.size === 0) this.work();
  };

  private readonly onDrain = (): void => {
    this.movedAt = this.timer.now;
    this.resume('room');
  };

  private readonly onEnd = (): void => {
    this.onInputEnd();
  };

  private readonly onClose = (): void => {
    this.timer.delete(this);
  };

  private readonly onError = (): void => {
    this.socket.destroy();
  };
}
