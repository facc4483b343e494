import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { LeafError, PeriodFormat, type TagReset } from '@leaf-ids/core';
import { invalidPeriod, messageOf, NO_NONCE, NONCE_PATTERN, parseRfc3339 } from '@leaf-ids/core/internal';

/**
 * Parses the `at` parameter; undefined if omitted.
 *
 * @throws LeafError `LEAF_PERIOD_INVALID`
 */
export function parseMoment(given: unknown): Date | undefined {
  if (given === undefined) return undefined;
  const moment = typeof given === 'string' ? parseRfc3339(given) : undefined;
  if (moment !== undefined) return moment;
  throw invalidPeriod(
    '"at" must be one RFC 3339 time with Z or an offset, such as 2026-11-22T10:00:00Z; encode + as %2B',
  );
}

/**
 * The form that the `format` parameter describes.
 *
 * @throws LeafError `LEAF_REQUEST_INVALID`
 */
export function parseFormat(given: unknown, reset: TagReset): PeriodFormat {
  if (typeof given !== 'string' || given === '') {
    throw new LeafError('LEAF_REQUEST_INVALID', 'The parameter "format" must be one pattern such as {YYYY}-{seq:5}.');
  }
  try {
    return new PeriodFormat({ reset, pattern: given });
  } catch (error) {
    throw new LeafError('LEAF_REQUEST_INVALID', `The parameter "format" is invalid. ${messageOf(error)}`);
  }
}

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

/**
 * Parses the `nonce` parameter of a batch or range; {@link NO_NONCE} if omitted.
 *
 * @throws LeafError `LEAF_REQUEST_INVALID`
 */
export function parseNonce(given: unknown): string {
  if (given === undefined) return NO_NONCE;
  if (typeof given === 'string' && NONCE_PATTERN.test(given)) return given;
  throw new LeafError('LEAF_REQUEST_INVALID', 'The nonce must be 1 to 64 letters, digits, "-" or "_", given once.');
}
