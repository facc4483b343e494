import { Logger } from '@nestjs/common';
import type { Clock, RandomSource } from '@leaf-ids/core';
import type { AccessLogConfig } from '../config/leaf-config';

const RANDOM_BOUND = 1_000_000;

export interface AccessLinesParts {
  readonly config: AccessLogConfig;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/** Selects the requests that have a line in the access log, and writes the lines. */
export class AccessLines {
  private readonly logger = new Logger('Access');
  private readonly ratio: number;
  private readonly slowMs: number;

  constructor(private readonly parts: AccessLinesParts) {
    const { mode, slowMs, ratio } = parts.config;
    this.slowMs = mode === 'slow' ? slowMs : 0;
    this.ratio = mode === 'sampled' ? ratio : 1;
  }

  /** Whether the next request is in the sample. */
  draw(): boolean {
    return this.ratio >= 1 || this.parts.random(RANDOM_BOUND) < this.ratio * RANDOM_BOUND;
  }

  /**
   * Writes the line of a request of the sample, unless it was too fast.
   *
   * @param fields called with the rounded time if the line is written
   */
  write(ms: number, fields: (ms: number) => Record<string, unknown>): void {
    if (ms < this.slowMs) return;
    this.logger.log({ message: 'Request', ...fields(Math.round(ms * 1000) / 1000) });
  }
}
