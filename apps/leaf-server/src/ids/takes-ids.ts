import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
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

/** Counts the IDs that a request takes. */
type Count = (request: FastifyRequest<IdRequest>) => number;

const COUNT = Symbol('count');

/** Who may not be known: taking IDs requires no token. */
export const ANYBODY = 'anonymous';

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the token with which the request takes IDs. */
    clientName?: string;
  }
}

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
    const countOf = this.reflector.get<Count>(COUNT, context.getHandler());
    const client = this.clients.identify(request, reply);
    request.clientName = client.name;
    const count = countOf(request);
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
  return Charged(({ query }) => (maximum === undefined ? 1 : parseSize(givenSize(query), maximum)));
}

/** As {@link TakesIds}, for a route that counts otherwise; 0: it takes none, but is for those who may. */
export function Charged(count: Count): MethodDecorator {
  return applyDecorators(UseGuards(ClientGuard), SetMetadata(COUNT, count), ApiTakesIds());
}

/** The name of the token of the request, for the journal of numbers. */
export const CurrentClient = createParamDecorator(
  (_: unknown, context: ExecutionContext): string =>
    context.switchToHttp().getRequest<FastifyRequest>().clientName ?? ANYBODY,
);
