import type { Clock } from '../clock/clock';
import { withinDeadline } from './deadline';
import { messageOf } from '../errors/leaf-error';

export interface ShutdownReport {
  (step: string, problem: string): void;
}

interface ShutdownStep {
  readonly step: string;
  readonly limitMs: number;
  readonly close: () => Promise<void>;
}

/**
 * Closes resources in the reverse order of their registration. Each step has a time limit. A step that fails or exceeds
 * its limit is reported, and the next one still runs.
 */
export class ShutdownStack {
  private readonly steps: ShutdownStep[] = [];
  private done: Promise<void> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly report: ShutdownReport,
  ) {}

  /** @param limitMs time limit of the step, in milliseconds */
  add(step: string, limitMs: number, close: () => Promise<void>): void {
    this.steps.push({ step, limitMs, close });
  }

  /** Runs every step once, last added first. Later calls join the first one. Never rejects. */
  close(): Promise<void> {
    this.done ??= this.unwind();
    return this.done;
  }

  private async unwind(): Promise<void> {
    for (let next = this.steps.pop(); next !== undefined; next = this.steps.pop()) {
      const { step, limitMs, close } = next;
      try {
        const inTime = await withinDeadline(close(), this.clock.monotonic() + limitMs, this.clock);
        if (!inTime) this.report(step, `timed out after ${limitMs} ms; continuing with the next step`);
      } catch (error) {
        this.report(step, messageOf(error));
      }
    }
  }
}
