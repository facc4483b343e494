import { join } from 'node:path';
import { codeOf } from '../long/chaos/load/server-caller';
import { ADMIN_TOKEN, admin } from '../support/http/admin';
import { call } from '../support/http/http';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { startMariadb } from '../support/servers/mariadb';
import { startPostgres } from '../support/servers/postgres';
import { ready } from '../support/servers/readiness';
import { beginTransaction } from '../support/servers/transactions';
import { faultOf, GAPLESS, one, PLAIN, QUESTIONS, type Question, TAGS, type Version } from './tags';

const ENGINES = { sqlite: undefined, mariadb: startMariadb, postgres: startPostgres } as const;
export type Engine = keyof typeof ENGINES;
export const ENGINE_NAMES = Object.keys(ENGINES) as Engine[];

export interface WayBack {
  /** What the older version answers to each path, and the Java service to its statement: a code, an error or IDs. */
  readonly answers: Readonly<Record<string, string>>;
  readonly faults: readonly string[];
}

/** Each tag in each way; also without its period, which a version would do that does not know the setting. */
const PATHS: readonly Question[] = [
  ...new Set([...QUESTIONS.filter(({ tag }) => tag), ...TAGS.map(({ tag }) => one(tag))]),
];

/** Lets the newer version use tags with all settings, the older one go on, and the newer one again. */
export async function goBack(roots: Readonly<Record<Version, string>>, engine: Engine): Promise<WayBack> {
  const database = await ENGINES[engine]?.();
  const builds = Object.fromEntries(
    Object.entries(roots).map(([version, root]) => [version, serversOf(root)]),
  ) as Record<Version, BuiltServers>;
  try {
    const directory = await builds.new.makeDirectory();
    const url = await database?.createDatabase();
    const env = { LEAF_SNOWFLAKE_ENABLED: 'false', LEAF_ADMIN_TOKEN: ADMIN_TOKEN, LEAF_DATABASE_URL: url };
    const trip = new Trip();
    const serve = async (version: Version, act: (server: BuiltServer) => Promise<void>): Promise<void> => {
      const server = await builds[version].start(directory, env);
      await ready(server.port);
      await act(server);
      server.signal('SIGTERM');
      await server.exit();
    };
    await serve('new', async ({ port }) => {
      for (const tag of TAGS) await admin(port, 'POST', '/api/tags', tag);
      await trip.visit(port, 'new');
      await trip.number(port, 'first', '1');
    });
    await serve('old', async ({ port }) => {
      await trip.visit(port, 'old');
      const { status, body } = await admin(port, 'GET', '/api/tags');
      trip.answers['/api/tags'] = status === 200 ? 'the list' : codeOf({ status, body });
    });
    if (url !== undefined) await trip.java(url);
    await serve('new', async ({ port }) => {
      await trip.visit(port, 'new');
      await trip.number(port, 'first', '1');
      await trip.number(port, 'second', '2');
    });
    return { answers: trip.answers, faults: trip.faults };
  } finally {
    for (const build of Object.values(builds)) await build.end();
    await database?.stop();
  }
}

function serversOf(root: string): BuiltServers {
  return new BuiltServers([process.execPath, join(root, 'dist/apps/leaf-server/src/main.js')]);
}

class Trip {
  readonly answers: Record<string, string> = {};
  readonly faults: string[] = [];
  /** By what must not repeat. */
  private readonly highest = new Map<string, bigint>();

  /** Asks for everything once. An ID must be above all before it, and as the settings of its tag say. */
  async visit(port: number, version: Version): Promise<void> {
    for (const question of PATHS) {
      const { path } = question;
      const { status, body } = await call(port, path);
      if (status !== 200) {
        const code = codeOf({ status, body });
        if (version === 'old') this.answers[path] = code;
        if (!code.startsWith('LEAF_')) this.faults.push(`${version}, ${path}: ${status} ${body}`);
        continue;
      }
      const given = question.read(body);
      const [from, to] = [given.ranges[0]!.from, given.ranges.at(-1)!.to];
      if (version === 'old') this.answers[path] = `${from} to ${to}`;
      const highest = this.highest.get(given.space) ?? 0n;
      if (from <= highest) this.faults.push(`${version}, ${path}: ${from} after ${highest}`);
      const isOfPeriods = TAGS.some(({ tag, reset }) => tag === question.tag && reset !== undefined);
      if (isOfPeriods && !given.space.startsWith('period'))
        this.faults.push(`${version}, ${path}: ${body} without a period`);
      const fault = faultOf(question, given);
      if (fault !== undefined) this.faults.push(`${version}: ${fault}`);
      this.highest.set(given.space, to);
    }
  }

  /** The number of a document. */
  async number(port: number, key: string, expected: string): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const { body } = await call(port, `/api/numbers/${GAPLESS}/${key}`, { method: 'PUT', headers, body: '{}' });
    const { number } = JSON.parse(body) as { number?: string };
    if (number !== expected) this.faults.push(`${key} has the number ${number ?? body}, not ${expected}`);
  }

  /** What the Java service does to get a segment. */
  async java(url: string): Promise<void> {
    for (const { tag } of TAGS) {
      const transaction = await beginTransaction(url);
      const name = `Java service, ${tag}`;
      try {
        await transaction.statement(`UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = '${tag}'`);
        await transaction.end('COMMIT');
        this.answers[name] = 'a segment';
        if (tag !== PLAIN) this.faults.push(`${name}: a segment`);
      } catch (error) {
        transaction.close();
        this.answers[name] = (error as Error).message;
      }
    }
  }
}
