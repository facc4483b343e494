import { Injectable, Logger } from '@nestjs/common';
import { reasonOf } from '@leaf-ids/core/internal';
import type { Actor } from './actor';

/** A change that was made. */
interface Change {
  /** Left out where there was nothing. */
  readonly before?: object | undefined;
  readonly after?: object | undefined;
}

/** One line of the log for each change: who changed which tag, from where, and the tag before and after. */
@Injectable()
export class Audit {
  private readonly logger = new Logger('Audit');

  /** Logs the change that `act` makes, also when it fails: a database that fails may still have made the change. */
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
      this.logger.log({ message: what, who, from, tag, before, after });
      return change;
    } catch (error) {
      this.logger.warn({ message: what, who, from, tag, failed: reasonOf(error) });
      throw error;
    }
  }
}
