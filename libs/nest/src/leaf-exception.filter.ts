import type { ServerResponse } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { LeafError } from '@leaf-ids/core';
import { internalError, type ProblemResponse, reasonOf, sendProblem } from '@leaf-ids/core/internal';

/**
 * Responds to a `LeafError` over HTTP, on Express and Fastify, as a Leaf server does: with the status of its code, a
 * problem document (RFC 9457), and `Retry-After` if a retry can succeed. Errors that are not for the client
 * (`LeafError.expose`) are logged, and their message is not sent. A response that has begun, such as a stream, is
 * aborted. Outside HTTP it does nothing, and Nest handles the error as usual.
 *
 * @example app.useGlobalFilters(new LeafExceptionFilter());
 */
@Catch(LeafError)
export class LeafExceptionFilter implements ExceptionFilter<LeafError> {
  private readonly logger = new Logger('LeafExceptionFilter');

  catch(error: LeafError, host: ArgumentsHost): void {
    if (host.getType() !== 'http') return;
    const response = host.switchToHttp().getResponse<HttpResponse>();
    const raw = 'raw' in response ? response.raw : response;
    if (raw.headersSent || !error.expose) this.logger.error(`${error.code}: ${reasonOf(error)}`, error.stack);
    if (raw.headersSent) raw.destroy();
    else sendProblem(error.expose ? error : withoutMessage(error), response);
  }
}

/** A response of Fastify or Express. */
type HttpResponse = ProblemResponse & ({ readonly raw: ServerResponse } | ServerResponse);

function withoutMessage(error: LeafError): LeafError {
  const { code, title, retryAfterMs } = error;
  if (code !== 'LEAF_SERVERS_UNAVAILABLE') return internalError(error);
  return new LeafError(code, `${title}.`, { cause: error, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}
