import type { ServerResponse } from 'node:http';
import type { Clock } from '@leaf-ids/core';

/** Time without a read after which a reader is disconnected, in milliseconds. */
const STALL_MS = 15_000;

/** One reader of server-sent events. What it does not take is not piled up: who sends waits, or finds it gone. */
export class EventStream {
  /** The newest round of which it has everything; 0 before the first. */
  round = 0;
  /** Steps of the history that it has. */
  steps = 0;
  /** A round is on its way to it. */
  busy = false;

  constructor(
    private readonly response: ServerResponse,
    private readonly clock: Clock,
  ) {}

  onGone(act: () => void): void {
    this.response.on('close', act);
  }

  /** Resolves when there is room for more; with false when the reader is gone. */
  async send(text: string): Promise<boolean> {
    if (this.gone) return false;
    if (!this.response.write(text)) await this.drained();
    return !this.gone;
  }

  /** Ends the stream without waiting for the reader, so that it does not delay the stop of the server. */
  end(): void {
    if (this.response.writableLength > 0) this.response.destroy();
    else this.response.end();
  }

  private get gone(): boolean {
    return this.response.destroyed || this.response.writableEnded;
  }

  private async drained(): Promise<void> {
    const alarm = new AbortController();
    const wake = (): void => alarm.abort(null);
    this.response.once('drain', wake).once('close', wake);
    await this.clock.sleep(STALL_MS, alarm.signal);
    this.response.off('drain', wake).off('close', wake);
    if (!alarm.signal.aborted) this.response.destroy();
  }
}
