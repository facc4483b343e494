import type { Clock } from './clock/clock';
import { withinDeadline } from './deadline';
import { messageOf } from './errors/leaf-error';

export interface ShutdownReport {
  (step: string, problem: string): void;
}

interface ShutdownStep {
  readonly step: string;
  readonly limitMs: number;
  readonly close: () => Promise<void>;
}

/**
 * What was opened, closed in the opposite order. Each step has a time limit; a step that fails or takes too long is
 * reported and the next one still runs.
 */
export class ShutdownStack {
  private readonly steps: ShutdownStep[] = [];
  private done: Promise<void> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly report: ShutdownReport,
  ) {}

  /** @param limitMs how long the step may take, in milliseconds */
  add(step: string, limitMs: number, close: () => Promise<void>): void {
    this.steps.push({ step, limitMs, close });
  }

  /** Runs every step once, last added first; later calls join the first. Never rejects. */
  close(): Promise<void> {
    this.done ??= this.unwind();
    return this.done;
  }

  private async unwind(): Promise<void> {
    for (let next = this.steps.pop(); next !== undefined; next = this.steps.pop()) {
      const { step, limitMs, close } = next;
      try {
        const inTime = await withinDeadline(close(), this.clock.monotonic() + limitMs, this.clock);
        if (!inTime) this.report(step, `not done after ${limitMs} ms, going on`);
      } catch (error) {
        this.report(step, messageOf(error));
      }
    }
  }
}
