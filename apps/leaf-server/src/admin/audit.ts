import { Injectable, Logger } from '@nestjs/common';
import { reasonOf } from '@leaf-ids/core';
import type { Actor } from './actor';

/** A change that was made. */
interface Change {
  /** Left out where there was nothing. */
  readonly before?: object | undefined;
  readonly after?: object | undefined;
}

/** One line of the log for every change: a JSON object that says who did what to which tag, from where, before and after. */
@Injectable()
export class Audit {
  private readonly logger = new Logger('Audit');

  /** Logs what `act` changed; what failed is logged as such, for a failed database may have made the change all the same. */
  async record<T extends Change>(
    by: Actor,
    what: string,
    tag: string | undefined,
    act: () => T | Promise<T>,
  ): Promise<T> {
    const { name: who, address: from } = by;
    try {
      const change = await act();
      const { before, after } = change;
      this.logger.log(JSON.stringify({ who, from, what, tag, before, after }));
      return change;
    } catch (error) {
      this.logger.warn(JSON.stringify({ who, from, what, tag, failed: reasonOf(error) }));
      throw error;
    }
  }
}
