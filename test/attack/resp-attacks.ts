import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_RANGE_SIZE } from '@leaf-ids/core';
import { encode } from '../support/resp-client';
import { requireTool } from '../support/tools';
import { type Attack, CONNECTING_LOAD } from './attacks';
import type { Crowd } from './crowd';
import { CLIENT_TOKEN } from './tokens';

const TAG = 'leaf-segment-test';
const INCR = encode('INCR', TAG);
/** Another client than the measured callers: failures count for each address. */
const OTHER_ADDRESS = '127.0.0.2';
const HTTP_SOURCES = [`/api/segment/get/${TAG}`, '/api/snowflake/get/measured'];
/** Both protocols: an attack on the one port must not delay the other. */
const SOURCES = [...HTTP_SOURCES, `INCR ${TAG}`];

const KIB = 1024;
const randomTag = (): string => randomBytes(8).toString('hex');
const MALFORMED = [
  '$1000000000000\r\n',
  '*1000000000\r\n',
  `*1\r\n$16377\r\n${'x'.repeat(16_377)}\r\n`,
  `*1\r\n$999999999\r\n${'x'.repeat(16 * KIB)}`,
  '*1\r\n'.repeat(1000),
  `*64\r\n${'$100\r\n'.repeat(64)}`,
  encode(...Array.from({ length: 64 }, () => 'x'.repeat(200))),
  'x'.repeat(64 * KIB),
];

/** So many commands in one packet, on one connection; the next packet follows when all are answered. */
async function packet(crowd: Crowd, bytes: string, count: number): Promise<void> {
  const socket = crowd.openResp(bytes);
  await Promise.race([socket.responded(count), crowd.over]);
  socket.end();
}

/** Of another tag than the measured callers, whose buffer would be empty otherwise. */
const BATCH = encode('LEAF.NEXT', 'service.tag-1', '10000');
/** Lines of the reply. */
const BATCH_LINES = 20_001;

/** As many callers of as many IDs over HTTP: each call writes to the database, over either protocol. */
const RANGE_LOAD: Attack = {
  name: 'ordinary callers of ranges',
  run: (crowd) => crowd.loop(20, () => crowd.ask(`/api/segment/range/${TAG}?size=${MAX_RANGE_SIZE}`)),
};

/** Unknown tags over HTTP: each is looked up in the database, over either protocol. */
const UNKNOWN_LOAD: Attack = {
  name: 'callers of unknown tags',
  run: (crowd) => crowd.loop(20, () => crowd.ask(`/api/segment/get/${randomTag()}`)),
};

/** As many callers as read nothing, who read: in each of their replies are as many IDs. */
const BATCH_LOAD: Attack = {
  name: 'Redis protocol: ordinary callers of batches',
  run: (crowd) => crowd.loop(100, () => packet(crowd, BATCH, BATCH_LINES)),
};

/** Pipelines of 16 commands on 50 connections. */
async function redisBenchmark(crowd: Crowd): Promise<void> {
  const words = ['-p', String(crowd.target.respPort), '-c', '50', '-P', '16', '-n', '100000000', '-q', 'INCR', TAG];
  const child = spawn(await requireTool('redis-benchmark'), words, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await crowd.over;
  child.kill('SIGKILL');
  await ended;
}

export const RESP_ATTACKS: readonly Attack[] = [
  {
    name: 'Redis protocol: 100,000 × `INCR` in one packet',
    sources: SOURCES,
    allowed: ['200'],
    run: (crowd) => packet(crowd, INCR.repeat(100_000), 100_000),
  },
  {
    name: 'Redis protocol: `redis-benchmark -P 16 -c 50`, seen by callers of HTTP',
    sources: HTTP_SOURCES,
    run: redisBenchmark,
  },
  {
    name: 'Redis protocol: `redis-benchmark -P 16 -c 50`, seen by callers of both protocols',
    sources: SOURCES,
    run: redisBenchmark,
  },
  {
    name: `Redis protocol: 20 callers of \`INCRBY tag 1000000\` without a pause`,
    sources: SOURCES,
    ordinary: RANGE_LOAD,
    allowed: ['200'],
    run: (crowd) => crowd.loop(20, () => packet(crowd, encode('INCRBY', TAG, String(MAX_RANGE_SIZE)).repeat(10), 10)),
  },
  {
    name: 'Redis protocol: 2000 unknown tags in one packet, on 20 connections',
    sources: SOURCES,
    ordinary: UNKNOWN_LOAD,
    run: (crowd) =>
      crowd.loop(20, () => {
        const commands = Array.from({ length: 2000 }, () => encode('INCR', randomTag()));
        return packet(crowd, commands.join(''), commands.length);
      }),
  },
  {
    name: 'Redis protocol: 100 connections that request 20 × 10,000 IDs each and read nothing',
    sources: SOURCES,
    tags: 2,
    ordinary: BATCH_LOAD,
    run: async (crowd: Crowd): Promise<void> => {
      const bytes = BATCH.repeat(20);
      for (let opened = 0; opened < 100; opened++) crowd.openResp(bytes).pause();
      await crowd.over;
    },
  },
  {
    name: 'Redis protocol: 1100 connections that request 40 × 10,000 snowflake IDs each and read nothing',
    fresh: true,
    // Without snowflake IDs, of which the attacker takes all 4096 of each millisecond.
    sources: [`/api/segment/get/${TAG}`, `INCR ${TAG}`],
    tags: 2,
    ordinary: BATCH_LOAD,
    prepare: async (crowd: Crowd): Promise<void> => {
      const bytes = encode('LEAF.SNOWFLAKE', '10000').repeat(40);
      for (let opened = 0; opened < 1100; opened++) crowd.openResp(bytes).pause();
      await sleep(500);
    },
    run: (crowd) => crowd.over,
  },
  {
    name: 'Redis protocol: 500 connections that send a command byte by byte',
    sources: SOURCES,
    run: async (crowd: Crowd): Promise<void> => {
      const sockets = Array.from({ length: 500 }, () => crowd.openResp('*2\r\n$4\r\nINCR\r\n$10000\r\n'));
      while (!crowd.isOver) {
        for (const socket of sockets) socket.write('x');
        await Promise.race([sleep(50), crowd.over]);
      }
    },
  },
  {
    name: 'Redis protocol: 1100 idle connections',
    fresh: true,
    sources: SOURCES,
    prepare: async (crowd: Crowd): Promise<void> => {
      const sockets = Array.from({ length: 1100 }, () => crowd.openResp(encode('PING')));
      await Promise.all(sockets.map((socket) => socket.responded(1)));
    },
    run: (crowd) => crowd.over,
  },
  {
    name: 'Redis protocol: 50 commands, then random bytes, on 20 connections',
    sources: SOURCES,
    ordinary: CONNECTING_LOAD,
    run: (crowd) =>
      crowd.loop(20, async () => {
        const socket = crowd.openResp(Buffer.concat([Buffer.from(INCR.repeat(50)), randomBytes(4096)]));
        socket.write('\r\n*x\r\n');
        await socket.closed;
      }),
  },
  {
    name: 'Redis protocol: lengths and arrays beyond the limits, on 20 connections',
    sources: SOURCES,
    ordinary: CONNECTING_LOAD,
    allowed: ['200', 'ERR'],
    run: (crowd) =>
      crowd.loop(20, async (caller) => {
        const socket = crowd.openResp(MALFORMED[caller % MALFORMED.length]!);
        socket.write('\r\n*x\r\n');
        await Promise.race([socket.closed, crowd.over]);
      }),
  },
  {
    name: 'Redis protocol: empty lines and arrays without a pause, on 20 connections',
    sources: SOURCES,
    run: (crowd) =>
      crowd.loop(20, async (caller) => {
        const bytes = (caller % 2 === 0 ? '\n' : '*0\r\n').repeat(16 * KIB);
        await crowd.openResp('').flood(bytes);
      }),
  },
  {
    name: 'Redis protocol: bytes without an end after a fault, on 20 connections',
    sources: SOURCES,
    run: (crowd) => crowd.loop(20, () => crowd.openResp('*x\r\n', { allowHalfOpen: true }).flood('x'.repeat(64 * KIB))),
  },
  {
    name: 'Redis protocol: 8 callers that guess tokens',
    sources: SOURCES,
    env: { LEAF_CLIENT_TOKENS: `billing:${CLIENT_TOKEN}` },
    token: CLIENT_TOKEN,
    allowed: ['LEAF_UNAUTHORIZED', 'LEAF_TOO_MANY_FAILURES'],
    run: (crowd) =>
      crowd.loop(8, async () => {
        const guesses = Array.from({ length: 100 }, () => encode('AUTH', randomBytes(16).toString('hex')));
        await Promise.race([
          crowd.openResp(guesses.join(''), { localAddress: OTHER_ADDRESS }).responded(100),
          crowd.over,
        ]);
      }),
  },
];
