import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Crowd } from './crowd';
import { ADMIN_TOKEN, CLIENT_TOKEN } from './tokens';

export interface Attack {
  readonly name: string;
  /** Rows in `leaf_alloc`; the one of the first migration when left out. */
  readonly tags?: number;
  /** Worker IDs in the registry `database` that other servers hold; the default registry when left out. */
  readonly workers?: number;
  readonly database?: 'mariadb';
  readonly env?: NodeJS.ProcessEnv;
  /** What the measured callers request: paths, and commands of the Redis protocol; single IDs of both modes when left out. */
  readonly sources?: readonly string[];
  /** Of the measured and the ordinary callers. */
  readonly token?: string;
  /** The measured callers open a new connection for each request. */
  readonly fresh?: boolean;
  /** The load that the attack is compared with; {@link ORDINARY_LOAD} when left out. */
  readonly ordinary?: Attack;
  /** Where the standard output of the server goes; a pipe that is read when left out. */
  readonly stdout?: 'closed' | 'full';
  /** Statuses that the attacker may see; any when left out. */
  readonly allowed?: readonly string[];
  /** Ends before the window begins; for what lasts, such as connections that stay open. */
  readonly prepare?: (crowd: Crowd) => Promise<unknown>;
  /** Repeated until the window is over. */
  readonly run: (crowd: Crowd) => Promise<unknown>;
}

/** The load that the attacks are compared with: as many callers as a scrape attack has, who take IDs without a pause. */
export const ORDINARY_LOAD: Attack = {
  name: 'ordinary callers',
  run: (crowd) => crowd.loop(20, () => crowd.ask('/api/snowflake/get/order')),
};

/** The same number of callers, with a new connection for each ID. */
export const CONNECTING_LOAD: Attack = {
  name: 'ordinary callers with new connections',
  run: (crowd) => crowd.loop(20, () => crowd.open(request('/api/snowflake/get/order', 'Connection: close\r\n')).closed),
};

/** Callers that read the batches: all IDs of a worker share 4096 in each millisecond, whoever takes them. */
const BATCH_LOAD: Attack = {
  name: 'ordinary callers of batches',
  run: (crowd) => crowd.loop(100, () => crowd.ask('/api/snowflake/batch/order?size=10000')),
};

/** As many callers as read single tags: the machine is shared with all of them. */
const CROWD_LOAD: Attack = {
  name: '900 ordinary callers',
  run: (crowd) => crowd.loop(900, () => crowd.ask('/api/snowflake/get/order')),
};

const request = (path: string, head = ''): string => `GET ${path} HTTP/1.1\r\nHost: leaf\r\n${head}\r\n`;
const TAG = 'leaf-segment-test';
const PACKET_PAUSE_MS = 100;
const MALFORMED = [
  'GET / HTTP/9.9\r\nHost: leaf\r\n\r\n',
  'GET /metrics HTTP/1.1\r\nHost: leaf\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
  'GET /metrics HTTP/1.1\r\nHost: leaf\r\nbroken\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: leaf\r\n\r\n`,
];

/** So many requests in one packet, on one connection; the next packet follows after a pause, on another one. */
async function pipeline(crowd: Crowd, path: string, count: number): Promise<void> {
  await crowd.open(request(path).repeat(count)).responded(count);
  await Promise.race([sleep(PACKET_PAUSE_MS), crowd.over]);
}

/** All of its requests in one packet, until the connection ends or the window is over. */
async function packets(crowd: Crowd, bytes: Buffer): Promise<void> {
  const socket = crowd.open(bytes);
  await Promise.race([socket.closed, crowd.over]);
  await Promise.race([sleep(PACKET_PAUSE_MS), crowd.over]);
}

const headers = (count: number, value: string): string =>
  Array.from({ length: count }, (_, index) => `x${index}${value}\r\n`).join('');

/** Made once: an attacker that builds them again for each packet is busy with itself. */
const MANY_HEADERS = Buffer.from(request('/metrics', headers(1900, ':1')).repeat(250));
const LARGE_HEADERS = Buffer.from(request('/metrics', headers(90, `: ${'v'.repeat(170)}`)).repeat(250));

/** As many callers of ranges of another tag, which are as large. */
const RANGE_LOAD: Attack = {
  name: 'ordinary callers of ranges',
  run: (crowd) => crowd.loop(4, () => crowd.ask(`/api/segment/range/${TAG}?size=100000`)),
};

/** One block in two is of this database: a large range is thousands of blocks. */
async function makeInterleaved(crowd: Crowd): Promise<void> {
  const body = JSON.stringify({ tag: 'shared', interleave: { of: 2, remainder: 0, block: 100 } });
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
  await crowd.ask('/api/tags', { method: 'POST', headers, body });
}

async function guess(crowd: Crowd): Promise<unknown> {
  const headers = { authorization: `Bearer ${randomBytes(16).toString('hex')}`, 'content-type': 'application/json' };
  return crowd.ask(`/api/tags/${TAG}`, { method: 'PATCH', headers, body: '{"step":1000}' });
}

export const ATTACKS: readonly Attack[] = [
  {
    name: '1800 × `GET /metrics` in one packet, 1000 tags',
    tags: 1000,
    run: (crowd) => pipeline(crowd, '/metrics', 1800),
  },
  {
    name: '1800 × `GET /metrics` in one packet, two processes',
    env: { LEAF_PROCESSES: '2' },
    run: (crowd) => pipeline(crowd, '/metrics', 1800),
  },
  {
    name: '1800 × `GET /metrics` in one packet, on 8 connections',
    run: (crowd) => crowd.loop(8, () => pipeline(crowd, '/metrics', 1800)),
  },
  {
    name: '250 requests with 1900 headers each in one packet, on 16 connections',
    allowed: ['431', 'closed'],
    run: (crowd) => crowd.loop(16, () => packets(crowd, MANY_HEADERS)),
  },
  {
    name: '250 requests with 16 KiB of headers each in one packet, on 16 connections',
    run: (crowd) => crowd.loop(16, () => packets(crowd, LARGE_HEADERS)),
  },
  {
    name: '1100 connections on `GET /metrics`, each with 3 requests waiting',
    fresh: true,
    ordinary: CONNECTING_LOAD,
    prepare: async (crowd: Crowd): Promise<void> => {
      for (let opened = 0; opened < 1100; opened++) crowd.open(request('/metrics').repeat(3));
      await sleep(500);
    },
    run: (crowd) => crowd.loop(100, () => crowd.open(request('/metrics').repeat(3)).closed),
  },
  {
    name: '1800 × `GET /metricsfoo` in one packet',
    allowed: ['404', '503', 'closed'],
    run: (crowd) => pipeline(crowd, '/metricsfoo', 1800),
  },
  {
    name: '20 callers of `/metrics` without a pause, 1000 tags',
    tags: 1000,
    run: (crowd) => crowd.loop(20, () => crowd.ask('/metrics')),
  },
  {
    name: '40 callers of `GET /api/tags` without a pause, 100,000 tags',
    tags: 100_000,
    run: (crowd) => crowd.loop(40, () => crowd.ask('/api/tags')),
  },
  {
    name: '40 callers of `GET /api/cluster` and `/api/cluster/workers` without a pause, 1000 servers',
    workers: 1000,
    env: { LEAF_CLUSTER_TOKEN: '3b0c9d7e5f1a2846c7d9e0f1a2b3c4d5' },
    run: (crowd) => crowd.loop(40, (caller) => crowd.ask(caller % 2 === 0 ? '/api/cluster' : '/api/cluster/workers')),
  },
  {
    name: '900 connections on `GET /api/tags/:tag`, MariaDB, beside ranges',
    database: 'mariadb',
    sources: [`/api/segment/range/${TAG}?size=1000`],
    ordinary: CROWD_LOAD,
    run: (crowd) => crowd.loop(900, () => crowd.ask(`/api/tags/${TAG}`)),
  },
  {
    name: '300 × a batch of 1424 IDs in one packet',
    run: (crowd) => pipeline(crowd, '/api/snowflake/batch/order?size=1424', 300),
  },
  {
    name: '1100 idle connections',
    fresh: true,
    prepare: async (crowd: Crowd): Promise<void> => {
      const sockets = Array.from({ length: 1100 }, () => crowd.open(request('/health/live')));
      await Promise.all(sockets.map((socket) => socket.responded(1)));
    },
    run: (crowd) => crowd.over,
  },
  {
    name: '500 connections that send a header byte by byte',
    run: async (crowd: Crowd): Promise<void> => {
      const sockets = Array.from({ length: 500 }, () => crowd.open('GET /health/live HTTP/1.1\r\nHost: leaf\r\nx: '));
      while (!crowd.isOver) {
        for (const socket of sockets) socket.write('x');
        await Promise.race([sleep(50), crowd.over]);
      }
    },
  },
  {
    name: '100 connections that request 20 batches of 10,000 IDs each and read nothing',
    ordinary: BATCH_LOAD,
    run: async (crowd: Crowd): Promise<void> => {
      const packet = request('/api/snowflake/batch/order?size=10000').repeat(20);
      for (let opened = 0; opened < 100; opened++) crowd.open(packet).pause();
      await crowd.over;
    },
  },
  {
    name: '50 requests, then random bytes, on 20 connections',
    ordinary: CONNECTING_LOAD,
    run: (crowd) =>
      crowd.loop(20, async () => {
        const packet = Buffer.concat([Buffer.from(request('/api/snowflake/get/order').repeat(50)), randomBytes(4096)]);
        await crowd.open(packet).closed;
      }),
  },
  {
    name: 'malformed requests on 20 connections',
    ordinary: CONNECTING_LOAD,
    allowed: ['400', '431', '505'],
    run: (crowd) =>
      crowd.loop(20, async (caller) => {
        await crowd.open(MALFORMED[caller % MALFORMED.length]!).closed;
      }),
  },
  {
    name: '4 callers of 100,000 IDs of a tag with blocks of 100, without a pause',
    ordinary: RANGE_LOAD,
    allowed: ['200', '201', '409', '503'],
    prepare: makeInterleaved,
    run: (crowd) => crowd.loop(4, () => crowd.ask('/api/segment/range/shared?size=100000')),
  },
  {
    name: '8 callers with wrong tokens, at the address of callers with a valid one',
    env: { LEAF_CLIENT_TOKENS: `billing:${CLIENT_TOKEN}` },
    token: CLIENT_TOKEN,
    allowed: ['401', '429', '503'],
    run: (crowd) =>
      crowd.loop(8, () => {
        const headers = { authorization: `Bearer ${randomBytes(16).toString('hex')}` };
        return crowd.ask(`/api/segment/get/${TAG}`, { headers });
      }),
  },
  {
    name: '8 callers that guess admin tokens',
    allowed: ['401', '429'],
    run: (crowd) => crowd.loop(8, () => guess(crowd)),
  },
  {
    name: 'standard output closed (as by `head -1`)',
    stdout: 'closed',
    run: (crowd) => crowd.loop(1, () => guess(crowd)),
  },
  { name: 'standard output full (`/dev/full`)', stdout: 'full', run: (crowd) => crowd.loop(1, () => guess(crowd)) },
];
