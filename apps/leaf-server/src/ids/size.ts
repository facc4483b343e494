import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { LeafError } from '@leaf-ids/core';

/** `Size`, `size[]`: a client that sends one of these would get another number of IDs than it expects. */
const SIZE_NAME = /^size(\[.*\])?$/i;

/** The `size` parameter for {@link parseSize}. */
export const GivenSize = createParamDecorator((_: unknown, context: ExecutionContext): unknown =>
  givenSize(context.switchToHttp().getRequest<FastifyRequest<{ Querystring: Record<string, unknown> }>>().query),
);

/** @throws LeafError `LEAF_SIZE_INVALID` if a parameter of a similar name is given */
export function givenSize(query: Record<string, unknown>): unknown {
  const other = Object.keys(query).find((name) => SIZE_NAME.test(name) && name !== 'size');
  if (other === undefined) return query.size;
  throw new LeafError('LEAF_SIZE_INVALID', `Unknown parameter "${other}": the parameter is called "size".`);
}

/**
 * Parses the `size` parameter of a batch or range, from 1 to `maximum`; 1 if omitted.
 *
 * @throws LeafError `LEAF_SIZE_INVALID`
 */
export function parseSize(given: unknown, maximum: number): number {
  if (given === undefined) return 1;
  const size = typeof given === 'string' && /^[1-9]\d{0,8}$/.test(given) ? Number(given) : Infinity;
  if (size <= maximum) return size;
  throw new LeafError('LEAF_SIZE_INVALID', `The parameter "size" must be one whole number from 1 to ${maximum}.`);
}
