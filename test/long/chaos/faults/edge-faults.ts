import type { TcpProxy } from '../../../support/http/tcp-proxy';
import type { Mode } from '../history/history';
import type { LeafProcess } from '../world/leaf-process';
import { type Code, type Draw, duration, NO_ANSWER, NO_SEGMENT, type Plan, serverOf, type ServerName } from './fault';
import { ServerFault } from './server-faults';

/** One side of a server, and what callers of it may get while that is broken. */
interface Edge {
  readonly name: string;
  /** Servers that have it. */
  readonly servers: readonly [ServerName, ...ServerName[]];
  readonly proxies: (server: LeafProcess) => readonly TcpProxy[];
  readonly codes: Readonly<Record<Mode, readonly Code[]>>;
}

/** A way to break it, for so long, in milliseconds. */
interface Break {
  readonly name: string;
  readonly holdMs: readonly [number, number];
  readonly apply: (proxy: TcpProxy) => void;
}

const EDGES: readonly Edge[] = [
  {
    name: 'client',
    servers: ['a', 'b', 'c', 'd', 'e'],
    proxies: ({ edges }) => [edges.client],
    codes: { segment: NO_ANSWER, snowflake: NO_ANSWER },
  },
  {
    name: 'database',
    servers: ['a', 'b', 'c', 'd', 'e'],
    proxies: ({ edges }) => [edges.database],
    codes: { segment: NO_SEGMENT, snowflake: [] },
  },
  {
    name: 'zookeeper',
    servers: ['a', 'b', 'c', 'd'],
    proxies: ({ edges }) => edges.coordinator,
    codes: { segment: [], snowflake: [] },
  },
];

/** Of the servers on etcd and on Kubernetes. */
const ETCD_EDGES: readonly Edge[] = (
  [
    ['etcd', ['a', 'b']],
    ['kubernetes', ['c']],
  ] as const
).map(([name, servers]) => ({
  ...{ name, servers, proxies: ({ edges }: LeafProcess) => edges.coordinator },
  codes: { segment: [], snowflake: [] },
}));

const DELAY_MS = 300;

const BREAKS: readonly Break[] = [
  { name: 'cut', holdMs: [1500, 3500], apply: (proxy) => proxy.refuse() },
  { name: 'blackhole', holdMs: [1500, 3500], apply: (proxy) => proxy.blackhole() },
  { name: 'delay', holdMs: [2000, 4000], apply: (proxy) => proxy.delay(DELAY_MS) },
  // Those that are open stay dead, also after the end.
  { name: 'dead', holdMs: [2000, 4000], apply: (proxy) => void proxy.loseConnections() },
];

function broken(edge: Edge, { name, holdMs: [least, most], apply }: Break): Draw {
  return (random): Plan => {
    const server = random.pick(edge.servers);
    return {
      kind: `${edge.name}-${name}`,
      parts: [`${edge.name} ${server}`],
      holdMs: duration(random, least, most),
      outlastsBuffers: false,
      detail: server,
      arm: (world) => {
        const target = serverOf(world, server);
        const each = (act: (proxy: TcpProxy) => void) => (): Promise<void> => {
          for (const proxy of edge.proxies(target)) act(proxy);
          return Promise.resolve();
        };
        return new ServerFault(
          target,
          edge.codes,
          each(apply),
          each((proxy) => proxy.heal()),
        );
      },
    };
  };
}

const breaksOf = (edge: Edge): Draw[] => BREAKS.map((how) => broken(edge, how));

export const EDGE_FAULTS: readonly Draw[] = EDGES.flatMap(breaksOf);
export const ETCD_EDGE_FAULTS: readonly Draw[] = ETCD_EDGES.flatMap(breaksOf);
