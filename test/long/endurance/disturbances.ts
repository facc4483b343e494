import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_TOKEN } from '../../support/http/admin';
import { ask } from '../chaos/load/http-ask';
import type { Edges } from '../chaos/world/edges';
import { EventReader } from '../../support/http/event-reader';
import type { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';
import type { Server } from './world';

/** Connections that are refused for so long are tried for again and again. */
const REFUSED_MS = 400;
/** Longer than a statement may take. */
const SILENT_MS = 2500;
/** Longer than a session of ZooKeeper lasts. */
const SESSION_LOST_MS = 12_000;
/** Sessions end in one round of so many: it takes its time. */
const SESSIONS_EVERY = 6;
const LIMIT_MS = 5000;

type Side = (edges: Edges) => readonly TcpProxy[];
const SIDES: readonly Side[] = [
  ({ database }) => [database],
  ({ coordinator }) => coordinator,
  ({ client }) => [client],
];
const [DATABASE, ZOOKEEPER] = SIDES as [Side, Side, Side];

/** What makes all servers reconnect, switch, or begin and end something, `round` after `round`. */
export async function disturb(servers: readonly Server[], round: number, well: () => Promise<void>): Promise<void> {
  for (const side of SIDES) {
    for (const proxy of proxiesOf(servers, side)) proxy.cut();
    await well();
  }
  for (const side of SIDES) {
    await breakFor(REFUSED_MS, proxiesOf(servers, side), (proxy) => proxy.refuse());
    await well();
  }
  await breakFor(SILENT_MS, proxiesOf(servers, DATABASE), (proxy) => proxy.blackhole());
  await well();
  if (round % SESSIONS_EVERY === 0) {
    await breakFor(SESSION_LOST_MS, proxiesOf(servers, ZOOKEEPER), (proxy) => proxy.blackhole());
    await well();
  }
  await useNewTag(servers, `round-${round}`);
  for (const { edges } of servers) await watch(edges.client.port);
}

function proxiesOf(servers: readonly Server[], side: Side): TcpProxy[] {
  return servers.flatMap(({ edges }) => side(edges));
}

async function breakFor(ms: number, proxies: readonly TcpProxy[], act: (proxy: TcpProxy) => void): Promise<void> {
  for (const proxy of proxies) act(proxy);
  await sleep(ms);
  for (const proxy of proxies) proxy.heal();
}

/** Made at one server, used at all of them, and deleted: what any server knows of it has to go. */
async function useNewTag(servers: readonly Server[], tag: string): Promise<void> {
  const [first] = servers.map(({ edges }) => edges.client.port);
  await admin(first!, 'POST', '/api/tags', JSON.stringify({ tag, step: 10 }));
  for (const { edges } of servers) {
    const served = async (): Promise<boolean> => {
      const reply = await ask({ port: edges.client.port, path: `/api/segment/get/${tag}`, limitMs: LIMIT_MS });
      return 'status' in reply && reply.status === 200;
    };
    await until(`${tag} at every server`, served);
  }
  await admin(first!, 'DELETE', `/api/tags/${tag}`);
}

async function admin(port: number, method: string, path: string, body?: string): Promise<void> {
  const headers = {
    authorization: `Bearer ${ADMIN_TOKEN}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const reply = await ask({ port, path, method, headers, ...(body === undefined ? {} : { body }), limitMs: LIMIT_MS });
  if ('fault' in reply || reply.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(reply)}`);
}

/** A page of the console that is opened and left. */
async function watch(port: number): Promise<void> {
  const reader = await EventReader.open(port, '/api/monitor/stream');
  await until('first event', () => reader.events.length > 0);
  reader.response.destroy();
}
