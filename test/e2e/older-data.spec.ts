import { join } from 'node:path';
import { type BitLayout } from '@leaf-ids/core';
import { defaultLayout } from '@leaf-ids/core/internal';
import { ensureBuilt } from '../support/build';
import { admin } from '../support/http/admin';
import { call, json } from '../support/http/http';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { shiftedClock } from '../support/servers/faketime';
import { ready } from '../support/servers/readiness';
import { type Expected, expectedOf, fixtureNames, folderOf, IDENTITY } from '../versions/fixture';
import { CASES, type FixturePlace, loadDirectory } from '../versions/fixture-places';

/** A start after a kill waits for the time that the killed server had reserved. */
const LIMIT_MS = 300_000;
const AFTER_KILL_MS = 1000;
const MAX = 60n;

interface Ranges {
  readonly ranges: readonly { readonly from: string; readonly to: string }[];
}

const servers = new BuiltServers();
let place: FixturePlace | undefined;

beforeAll(() => ensureBuilt());
afterEach(async () => {
  await servers.end();
  await place?.stop();
  place = undefined;
});

/**
 * Starts the server. A version with another default registry is refused while the time lasts that the killed server
 * had reserved in its own: a service manager starts it again.
 */
async function start(directory: string, env: NodeJS.ProcessEnv, isReserved: () => boolean): Promise<BuiltServer> {
  for (;;) {
    const mayBeRefused = env.LEAF_SNOWFLAKE_REGISTRY === undefined && isReserved();
    try {
      return await servers.start(directory, env);
    } catch (error) {
      if (!mayBeRefused || !String(error).includes('LEAF_REGISTRY_MISMATCH')) throw error;
    }
  }
}

async function firstOf(port: number, path: string): Promise<bigint> {
  return BigInt((await json<Ranges>(port, `/api/segment/${path}`)).ranges[0]!.from);
}

/** IDs of every tag are above those of the fixture, under the settings of the tag. */
async function judgeTags(port: number, { highest, killedAt }: Expected): Promise<void> {
  const at = new Date(killedAt).toISOString();
  for (const [tag, last] of Object.entries(highest)) {
    if (tag === 'deleted') expect((await admin(port, 'POST', '/api/tags', { tag, step: 10 })).status).toBe(201);
    const path = tag === 'bill' ? `period/${tag}?size=1&at=${at}` : `range/${tag}?size=1`;
    expect([tag, (await firstOf(port, path)) > BigInt(last)]).toEqual([tag, true]);
  }
  if (highest.limited !== undefined) await judgeMax(port);
  if (highest.ticket !== undefined) expect(await orderOf(port, 'ticket')).toBe('strict');
  if (highest.shared !== undefined) expect((((await firstOf(port, 'range/shared?size=1')) - 1n) / 50n) % 3n).toBe(1n);
  if (highest.bill !== undefined) {
    const { body } = await call(port, '/api/segment/get/bill');
    expect(JSON.parse(body)).toMatchObject({ code: 'LEAF_TAG_PERIODIC' });
  }
}

/** The last ID is that of the fixture. */
async function judgeMax(port: number): Promise<void> {
  for (let last = 0n; ;) {
    const { status, body } = await call(port, '/api/segment/get/limited');
    if (status !== 200) {
      expect([JSON.parse(body), last]).toEqual([expect.objectContaining({ code: 'LEAF_TAG_EXHAUSTED' }), MAX]);
      return;
    }
    last = BigInt(body);
  }
}

async function orderOf(port: number, tag: string): Promise<string> {
  return (JSON.parse((await admin(port, 'GET', `/api/tags/${tag}`)).body) as { order: string }).order;
}

/** Each document keeps its number, the next one follows without a gap, and the journal is whole. */
async function judgeNumbers(port: number, { numbers, killedAt }: Expected): Promise<void> {
  const keys = Object.keys(numbers);
  if (keys.length === 0) return;
  const headers = { 'content-type': 'application/json' };
  const at = new Date(killedAt).toISOString();
  const put = async (key: string): Promise<unknown> =>
    JSON.parse(
      (await call(port, `/api/numbers/receipt/${key}`, { method: 'PUT', headers, body: JSON.stringify({ at }) })).body,
    );
  for (const key of keys) expect(await put(key)).toMatchObject({ number: numbers[key] });
  expect(await put('next')).toMatchObject({ number: String(keys.length + 1), state: 'issued' });
  const period = at.slice(0, 4);
  const audit = await json(port, `/api/numbers/receipt/audit?period=${period}`);
  const counts = { issued: keys.length - 1, confirmed: 1, void: 1, reissued: 0 };
  expect(audit).toMatchObject({ contiguous: true, chronological: true, intact: true, counts });
}

/** No time is used again under the worker ID of the killed server, which a registry with fixed workers gives again. */
async function judgeSnowflakes(
  port: number,
  layout: BitLayout,
  expected: Expected,
  keepsWorker: boolean,
): Promise<void> {
  const { workerId, timestamp } = layout.decompose(BigInt((await call(port, '/api/snowflake/get/fixture')).body));
  if (keepsWorker) expect(workerId).toBe(expected.workerId);
  if (workerId === expected.workerId) expect(timestamp).toBeGreaterThan(expected.ceiling);
  // The clock of the server, not that of this process.
  expect(Math.abs(timestamp - expected.killedAt)).toBeLessThan(LIMIT_MS);
}

describe.each(fixtureNames())('the data of %s', (fixture) => {
  it.each(CASES)(
    'serves a start of this version, with $name',
    async (each) => {
      const [folder, expected] = [folderOf(fixture, each), await expectedOf(fixture, each)];
      place = await each.open();
      const directory = await servers.makeDirectory();
      await loadDirectory(join(folder, 'files'), directory);
      await place.load(folder);
      // The reserved time lies ahead only right after the kill.
      const offsetMs = expected.killedAt + AFTER_KILL_MS - Date.now();
      const settings = { LEAF_NUMBERS_SYNC: 'true', LEAF_SNOWFLAKE_MAX_CLOCK_OFFSET_MS: '0' };
      const env = { ...IDENTITY, ...settings, ...each.env, ...place.env, ...(await shiftedClock(offsetMs)) };
      const isReserved = (): boolean => Date.now() + offsetMs < expected.ceiling;
      const server = await start(directory, env, isReserved);
      await ready(server.port);
      await judgeTags(server.port, expected);
      await judgeNumbers(server.port, expected);
      await judgeSnowflakes(server.port, defaultLayout(), expected, each.keepsWorker);
    },
    LIMIT_MS,
  );
});
