import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestIdOf } from './request-id';
import { respondWithProblem, toLeafError } from './problem';

/** Responds to every exception with a problem document. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger(ProblemFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const error = toLeafError(thrown, request.method);
    if (error.status === 500) {
      this.logger.error(
        {
          message: `${request.method} ${request.routeOptions.url ?? 'unknown route'} failed`,
          requestId: requestIdOf(request.raw),
        },
        causeStack(error.cause),
      );
    }
    respondWithProblem(error, reply);
  }
}

function causeStack(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
