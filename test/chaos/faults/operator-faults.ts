import { ADMIN_TOKEN } from '../../support/admin';
import { ask } from '../load/http-ask';
import type { World } from '../world/world';
import { until } from '../../support/until';
import { type Draw, duration, NO_ANSWER, SERVERS } from './fault';

/** Comes and goes, under one name: what it gave before it was deleted must not come again. */
const PASSING_TAG = 'passing';
const STEPS = [500, 1000, 2000, 4000] as const;
/** More than all servers take between the look and the change. */
const RAISE = 10_000_000n;
const ASK_LIMIT_MS = 5000;
const SETTLED_LIMIT_MS = 120_000;

const rollingRestart: Draw = () => ({
  kind: 'rolling-restart',
  parts: SERVERS.map((name) => `server ${name}`),
  holdMs: 0,
  outlastsBuffers: false,
  detail: '',
  arm: (world) => ({
    async begin() {
      for (const server of world.servers) {
        await server.stop();
        await server.start();
        await until(`server ${server.name}`, async () => (await server.trouble()) === undefined, SETTLED_LIMIT_MS);
      }
    },
    end: () => Promise.resolve(),
    expected: (server) => (server === undefined ? [] : [...NO_ANSWER, 'LEAF_NOT_READY']),
  }),
});

/** A tag is created, changed and deleted, and two others are changed, while all of them are used. */
const tagChanges: Draw = (random) => {
  const step = random.pick(STEPS);
  return {
    kind: 'tag-changes',
    parts: ['tags'],
    holdMs: duration(random, 2000, 4000),
    outlastsBuffers: false,
    detail: `step ${step}`,
    arm: (world) => ({
      async begin() {
        await change(world, 'POST', '/api/tags', { tag: PASSING_TAG, step });
        world.tags.add(PASSING_TAG);
        await change(world, 'PATCH', '/api/tags/order', { step });
        const { maxId } = JSON.parse(await change(world, 'GET', '/api/tags/user')) as { maxId: string };
        await change(world, 'PATCH', '/api/tags/user', { maxId: String(BigInt(maxId) + RAISE) });
      },
      async end() {
        world.tags.delete(PASSING_TAG);
        await change(world, 'DELETE', `/api/tags/${PASSING_TAG}`);
      },
      expected: (_server, mode) => (mode === 'segment' ? ['LEAF_TAG_NOT_FOUND'] : []),
    }),
  };
};

/** Tries one server after the other: another fault may have taken some of them, or the database, for a while. */
async function change(world: World, method: string, path: string, body?: unknown): Promise<string> {
  let last = '';
  return until(
    `${method} ${path}`,
    async () => {
      for (const { edges } of world.servers) {
        const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
        const question = { port: edges.client.port, path, method, headers, limitMs: ASK_LIMIT_MS };
        const reply = await ask(
          body === undefined
            ? question
            : { ...question, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) },
        );
        if ('fault' in reply) continue;
        // A change without an answer may have been made: the next try finds it made, or the tag gone.
        const repeated = reply.status === 409 || (method === 'DELETE' && reply.status === 404);
        if (reply.status < 300 || repeated) return reply.body;
        last = `${reply.status} ${reply.body}`;
        if (reply.status < 500) throw new Error(`${method} ${path}: ${last}`);
      }
      return undefined;
    },
    SETTLED_LIMIT_MS,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}; last answer: ${last}`, { cause: error });
  });
}

export const OPERATOR_FAULTS: readonly Draw[] = [rollingRestart, tagChanges];
