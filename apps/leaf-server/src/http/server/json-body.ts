import { Readable } from 'node:stream';
import type { FastifyBodyParser, FastifyInstance, FastifyRequest } from 'fastify';
import { LeafError } from '@leaf-ids/core';

/** The charset in `Content-Type`; UTF-8 if omitted. */
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)/i;

/** Takes JSON bodies, and no others: what cannot be read to the letter is refused, not guessed. */
export function takeJsonBodies(fastify: FastifyInstance): void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  const read: FastifyBodyParser<Buffer> = (request, body, done) => {
    const fault = encodingFault(request);
    const text = fault === undefined ? decoded(body) : undefined;
    if (text !== undefined) void parse(request, text, done);
    else done(fault ?? new LeafError('LEAF_BODY_INVALID', 'The body is not UTF-8.'));
  };
  fastify.removeAllContentTypeParsers();
  // Node.js has ended the stream of a request without a body before the framework waits for its end.
  fastify.addHook('preParsing', ({ raw }, _reply, body, done) =>
    done(null, raw.readableEnded ? Readable.from([]) : body),
  );
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, read);
}

function encodingFault({ headers }: FastifyRequest): LeafError | undefined {
  const charset = CHARSET.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  const coding = headers['content-encoding'] ?? 'identity';
  if (/^utf-?8$/i.test(charset) && coding.toLowerCase() === 'identity') return undefined;
  return new LeafError(
    'LEAF_MEDIA_TYPE_UNSUPPORTED',
    'Send the body as application/json, in UTF-8 and not compressed.',
  );
}

function decoded(body: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}
