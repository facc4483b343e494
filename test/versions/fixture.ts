import { readdirSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultLayout } from '@leaf-ids/core/internal';
import { ADMIN_TOKEN, admin } from '../support/http/admin';
import { call, json } from '../support/http/http';
import { BuiltServers } from '../support/servers/built-server';
import { ready } from '../support/servers/readiness';
import { CASES, type FixtureCase, saveDirectory } from './fixture-places';

const FOLDER = join(process.cwd(), 'test/versions/fixtures');
/** The identity of the server, whatever its port. */
export const IDENTITY = { LEAF_ADVERTISE_PORT: '8080', LEAF_ADMIN_TOKEN: ADMIN_TOKEN };
export const EXPECTED = 'expected.json';

/** What a server of an older version had given out when it was killed. */
export interface Expected {
  /** Unix milliseconds. */
  readonly killedAt: number;
  /** The recorded end of the time that the server had reserved, in Unix milliseconds. */
  readonly ceiling: number;
  readonly workerId: number;
  readonly lastSnowflake: string;
  /** The highest ID of each tag; the highest number of `bill` in the period of the fixture. */
  readonly highest: Readonly<Record<string, string>>;
  /** The number of each document of the gapless tag `receipt`. */
  readonly numbers: Readonly<Record<string, string>>;
}

/** Bodies of `POST /api/tags`. A version that does not know a setting refuses the tag. */
const TAGS = [
  { tag: 'order', step: 100 },
  { tag: 'deleted', step: 100 },
  { tag: 'limited', step: 10, max: '60' },
  { tag: 'ticket', step: 100, order: 'strict' },
  { tag: 'bill', step: 10, reset: 'yearly', zone: 'UTC' },
  { tag: 'shared', step: 100, interleave: { of: 3, remainder: 1, block: 50 } },
  { tag: 'receipt', order: 'gapless', reset: 'yearly', zone: 'UTC' },
];
const SIZE = 25;
const DOCUMENTS = ['a', 'b', 'c', 'd'];

export function fixtureNames(): string[] {
  return readdirSync(FOLDER).sort();
}

export function folderOf(fixture: string, { name }: FixtureCase): string {
  return join(FOLDER, fixture, name);
}

export async function expectedOf(fixture: string, each: FixtureCase): Promise<Expected> {
  return JSON.parse(await readFile(join(folderOf(fixture, each), EXPECTED), 'utf8')) as Expected;
}

/**
 * Lets the server of `root` create data, kills it and writes the data below `fixtures`.
 *
 * @param only names of cases; empty: all
 */
export async function makeFixture(
  fixture: string,
  root: string,
  only: readonly string[],
  say: (line: string) => void,
): Promise<void> {
  for (const each of CASES.filter(({ name }) => only.length === 0 || only.includes(name))) {
    const folder = folderOf(fixture, each);
    await rm(folder, { recursive: true, force: true });
    await mkdir(join(folder, 'files'), { recursive: true });
    const place = await each.open();
    const servers = new BuiltServers([process.execPath, join(root, 'dist/apps/leaf-server/src/main.js')]);
    try {
      const directory = await servers.makeDirectory();
      const server = await servers.start(directory, { ...IDENTITY, ...each.env, ...place.env });
      await ready(server.port);
      const given = await use(server.port, each.hasTags);
      await server.kill();
      const killedAt = Date.now();
      await saveDirectory(directory, join(folder, 'files'));
      await place.save(folder);
      const expected: Expected = { killedAt, ceiling: await ceilingOf(folder), ...given };
      await writeFile(join(folder, EXPECTED), `${JSON.stringify(expected, undefined, 2)}\n`);
      say(`${each.name}: ${Object.keys(given.highest).join(', ')}`);
    } finally {
      await servers.end();
      await place.stop();
    }
  }
}

async function use(port: number, hasTags: boolean): Promise<Omit<Expected, 'killedAt' | 'ceiling'>> {
  const highest: Record<string, string> = {};
  const numbers: Record<string, string> = {};
  for (const tag of hasTags ? TAGS : []) {
    const { status } = await admin(port, 'POST', '/api/tags', tag);
    if (status >= 300) continue;
    if (tag.order === 'gapless') Object.assign(numbers, await useNumbers(port, tag.tag));
    else highest[tag.tag] = await take(port, tag.tag, tag.reset === undefined ? 'range' : 'period');
  }
  if (hasTags) await admin(port, 'DELETE', '/api/tags/deleted');
  const { ids } = await json<{ readonly ids: readonly string[] }>(port, `/api/snowflake/batch/fixture?size=${SIZE}`);
  const lastSnowflake = ids.at(-1) ?? '';
  return { workerId: defaultLayout().decompose(BigInt(lastSnowflake)).workerId, lastSnowflake, highest, numbers };
}

async function take(port: number, tag: string, kind: 'range' | 'period'): Promise<string> {
  type Ranges = { readonly ranges: readonly { readonly to: string }[] };
  const { ranges } = await json<Ranges>(port, `/api/segment/${kind}/${tag}?size=${SIZE}`);
  return ranges.at(-1)!.to;
}

/** Some stay as they are issued, one is confirmed, one is void. */
async function useNumbers(port: number, tag: string): Promise<Record<string, string>> {
  const numbers: Record<string, string> = {};
  const headers = { 'content-type': 'application/json' };
  for (const key of DOCUMENTS) {
    const { body } = await call(port, `/api/numbers/${tag}/${key}`, { method: 'PUT', headers, body: '{}' });
    numbers[key] = (JSON.parse(body) as { number: string }).number;
  }
  await call(port, `/api/numbers/${tag}/a/confirm`, { method: 'POST' });
  await call(port, `/api/numbers/${tag}/b/void`, { method: 'POST', headers, body: '{"reason":"cancelled"}' });
  return numbers;
}

/** The latest time in the records: nothing else lies ahead. */
async function ceilingOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    entries.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')),
  );
  const times = texts.flatMap((text) => text.match(/(?<!\d)1[78]\d{11}(?!\d)/g) ?? []).map(Number);
  return Math.max(...times);
}
