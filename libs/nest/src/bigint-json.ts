/** The part of a Nest application that {@link serializeBigInts} uses. */
export interface HttpApplication {
  getHttpAdapter(): { getType(): string; getInstance(): unknown };
}

type Replacer = (key: string, value: unknown) => unknown;

interface Express {
  set(name: 'json replacer', replacer: Replacer): unknown;
}

interface Fastify {
  setReplySerializer(serialize: (payload: unknown) => string): unknown;
}

/**
 * Makes an application on Express or Fastify write each bigint of a JSON response as a decimal string, at any depth:
 * JSON numbers are exact only up to 2^53, and `JSON.stringify` throws for bigints. Replaces the setting `json replacer`
 * of Express, or the reply serializer of Fastify. Call it before `listen`.
 *
 * @example serializeBigInts(app);
 */
export function serializeBigInts(app: HttpApplication): void {
  const adapter = app.getHttpAdapter();
  if (adapter.getType() === 'fastify') {
    const fastify = adapter.getInstance() as Fastify;
    fastify.setReplySerializer((payload) => JSON.stringify(payload, bigintAsString));
  } else {
    const express = adapter.getInstance() as Express;
    express.set('json replacer', bigintAsString);
  }
}

function bigintAsString(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
