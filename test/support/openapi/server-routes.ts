import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';

/** Every route that is registered while `start` runs, as `GET /path/:parameter`; the HEAD beside each GET is left out. */
export async function routesOf<T>(
  start: () => Promise<T>,
): Promise<{ readonly started: T; readonly routes: string[] }> {
  const routes = new Set<string>();
  const listen = (message: unknown): void => {
    (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', ({ method, url }) => {
      for (const each of [method].flat()) if (each !== 'HEAD') routes.add(`${each} ${url}`);
    });
  };
  subscribe('fastify.initialization', listen);
  try {
    const started = await start();
    return { started, routes: [...routes].sort() };
  } finally {
    unsubscribe('fastify.initialization', listen);
  }
}
