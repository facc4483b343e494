import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { LeafError, reasonOf } from '../errors/leaf-error';
import { internalError, type ProblemResponse, sendProblem } from '../errors/problem';

/**
 * Responds to a `LeafError` over HTTP, on Express and Fastify, as a Leaf server does: with the status of its code, a
 * problem document (RFC 9457), and `Retry-After` if a retry can succeed. Errors that only an operator can correct are
 * logged, and their message is not sent. Outside HTTP it does nothing, and Nest handles the error as usual.
 *
 * @example app.useGlobalFilters(new LeafExceptionFilter());
 */
@Catch(LeafError)
export class LeafExceptionFilter implements ExceptionFilter<LeafError> {
  private readonly logger = new Logger('LeafExceptionFilter');

  catch(error: LeafError, host: ArgumentsHost): void {
    if (host.getType() !== 'http') return;
    const response = host.switchToHttp().getResponse<ProblemResponse>();
    if (error.expose) {
      sendProblem(error, response);
      return;
    }
    this.logger.error(`${error.code}: ${reasonOf(error)}`, error.stack);
    sendProblem(internalError(error), response);
  }
}
