import { createParamDecorator, type ExecutionContext, Injectable, Logger } from '@nestjs/common';
import { reasonOf } from '@leaf-ids/core/internal';
import type { FastifyRequest } from 'fastify';

/** Who makes a change, and from which address. */
export interface Actor {
  /** The name of the token. */
  readonly name: string;
  readonly address: string;
}

/** A request with a valid admin token. */
export interface AdminRequest extends FastifyRequest {
  actor: Actor;
}

/** The {@link Actor} of the request. Only behind the `AdminGuard`. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  return context.switchToHttp().getRequest<AdminRequest>().actor;
});

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
