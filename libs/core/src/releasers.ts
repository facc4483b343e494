import type { Clock } from './clock/clock';
import { settledBefore } from './deadline';
import { messageOf } from './errors/leaf-error';

export interface ReleaserReport {
  (step: string, problem: string): void;
}

interface Releaser {
  readonly step: string;
  readonly limitMs: number;
  readonly release: () => Promise<void>;
}

/**
 * What was opened, closed in the opposite order. Each step has a time limit; a step that fails or takes too long is
 * reported and the next one still runs.
 */
export class Releasers {
  private readonly stack: Releaser[] = [];
  private done: Promise<void> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly report: ReleaserReport,
  ) {}

  /** @param limitMs how long the release may take, in milliseconds */
  add(step: string, limitMs: number, release: () => Promise<void>): void {
    this.stack.push({ step, limitMs, release });
  }

  /** Runs every release once, last added first; later calls join the first. Never rejects. */
  releaseAll(): Promise<void> {
    this.done ??= this.unwind();
    return this.done;
  }

  private async unwind(): Promise<void> {
    for (let releaser = this.stack.pop(); releaser !== undefined; releaser = this.stack.pop()) {
      const { step, limitMs, release } = releaser;
      try {
        const inTime = await settledBefore(release(), this.clock.monotonic() + limitMs, this.clock);
        if (!inTime) this.report(step, `not done after ${limitMs} ms, going on`);
      } catch (error) {
        this.report(step, messageOf(error));
      }
    }
  }
}
