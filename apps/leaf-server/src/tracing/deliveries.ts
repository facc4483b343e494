import { Logger } from '@nestjs/common';
import { messageOf } from '@leaf-ids/core/internal';

/** Tells once when traces begin to be lost, and once when they are delivered again. */
export class Deliveries {
  private readonly logger = new Logger('Tracing');
  private failing = false;

  /** @param collector as an operator knows it */
  constructor(private readonly collector: string) {}

  /** @param error why the newest delivery failed; undefined when it did not */
  report(error: Error | undefined): void {
    if (this.failing === (error !== undefined)) return;
    this.failing = error !== undefined;
    if (error === undefined) this.logger.log('Traces are delivered again.');
    else this.logger.warn(`Traces are lost because ${this.collector} does not accept them: ${messageOf(error)}`);
  }
}
