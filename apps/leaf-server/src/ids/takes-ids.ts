import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ClientAccess } from '../clients/client-access';
import { ApiTakesIds } from '../openapi/problems';
import { givenSize, parseSize } from './parameters';

const MAX_SIZE = Symbol('maximum size');

interface IdRequest {
  /** The route has one of the two. */
  readonly Params: { readonly tag?: string; readonly key?: string };
  readonly Querystring: Record<string, unknown>;
}

/** Charges the IDs of a request to the quota of the caller, if taking IDs requires a token. */
@Injectable()
export class ClientGuard implements CanActivate {
  constructor(
    private readonly clients: ClientAccess,
    private readonly reflector: Reflector,
  ) {}

  /** @throws LeafError as {@link ClientAccess.identify} and {@link Client.charge}; `LEAF_SIZE_INVALID` */
  canActivate(context: ExecutionContext): boolean {
    if (!this.clients.enabled) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest<IdRequest>>();
    const reply = http.getResponse<FastifyReply>();
    const { tag, key = '' } = request.params;
    const maximum = this.reflector.get<number | undefined>(MAX_SIZE, context.getHandler());
    const client = this.clients.identify(request, reply);
    const count = maximum === undefined ? 1 : parseSize(givenSize(request.query), maximum);
    const quota = client.charge(tag ?? key, count);
    reply.raw.once('close', () => {
      if (reply.statusCode >= 400) quota.giveBack(count);
    });
    return true;
  }
}

/**
 * The route issues IDs: it requires a token if the server has client tokens.
 *
 * @param maximum of the parameter `size`; undefined if the route issues one ID
 */
export function TakesIds(maximum?: number): MethodDecorator {
  return applyDecorators(UseGuards(ClientGuard), SetMetadata(MAX_SIZE, maximum), ApiTakesIds());
}
