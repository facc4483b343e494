/** How requests of a route are admitted; {@link Admission} has the rules. */
export type RouteKind = 'id' | 'probe' | 'peer' | 'window' | 'number' | 'command' | 'costly' | 'endless';

/** An event stream: its response has no end. */
export const STREAM_ROUTE = '/api/monitor/stream';
const IDS = ['/api/segment/', '/api/snowflake/', '/decodeSnowflakeId'];
/** Changes by processes that issue snowflake IDs themselves, not by operators. */
const WORKERS = '/api/workers';
/** The number of one document, or of several; lists and audits of them are costly. */
const NUMBERS = '/api/numbers/';
const NUMBER = '/api/numbers/:tag/:key';
/** For the other servers of the cluster. If it waited for other requests, servers that request each other would time out. */
export const PEER_ROUTE = '/api/internal/server';
const PROBES = ['/health/', '/api/internal/time'];

/**
 * @param route the registered pattern, as `/api/tags/:tag`, that the router found for the path of a request: a path that
 * resembles a route has none. A request without a route is admitted as an ID request.
 */
export function routeKind(method: string, route: string | undefined): RouteKind {
  if (route === undefined || IDS.some((prefix) => route.startsWith(prefix))) return 'id';
  if (PROBES.some((prefix) => route.startsWith(prefix))) return 'probe';
  if (route === PEER_ROUTE) return 'peer';
  const isRead = method === 'GET' || method === 'HEAD';
  if (route === NUMBER || (!isRead && route.startsWith(NUMBERS))) return 'number';
  if (!isRead) return route.startsWith(WORKERS) ? 'window' : 'command';
  return route === STREAM_ROUTE ? 'endless' : 'costly';
}
