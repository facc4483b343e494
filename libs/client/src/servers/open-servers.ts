import type { Clock, RandomSource } from '@leaf-ids/core';
import type { LeafClientEvents, ResolvedOptions } from '../client-options';
import { HttpConnection } from '../http/http-connection';
import { Server } from './server';
import { ServerHealth } from './server-health';

/** Creates the servers of the options. Connections open at the first request. */
export function openServers(
  { servers, ejection, requestTimeoutMs: timeoutMs, token }: ResolvedOptions,
  clock: Clock,
  random: RandomSource,
  events: LeafClientEvents,
): Server[] {
  return servers.map(({ url, zone }) => {
    const { href } = url;
    const health = new ServerHealth(ejection, clock, random, {
      onEjected: (error, forMs) => events.onServerEjected(href, error, forMs),
      onReadmitted: () => events.onServerReadmitted(href),
    });
    return new Server(href, zone, health, new HttpConnection(url, { timeoutMs, token }, clock));
  });
}
