import { ensureBuilt } from '../support/build';
import { call } from '../support/http/http';
import { type MariadbServer, startMariadb } from '../support/servers/mariadb';
import { type Attack, ATTACKS } from './attacks';
import { LIMITED_BY, LimitedServer } from './limited-server';
import { type AttackResult, measure, MAX_RATIO } from './measure';
import { RESP_ATTACKS } from './resp-attacks';
import { describeResults, keepResults } from './results';
import { ADMIN_TOKEN } from './tokens';

const FAILURES_BEFORE_429 = 10;
const ALL: readonly Attack[] = [...ATTACKS, ...RESP_ATTACKS];

/** A third above the highest peaks that were measured: 219 MiB of one process, 369 MiB of two with their supervisor. */
const maxPeakMib = ({ env }: Attack): number => (env?.LEAF_PROCESSES === undefined ? 290 : 490);

let mariadb: MariadbServer;
let server: LimitedServer | undefined;
const results: AttackResult[] = [];

beforeAll(async () => {
  await ensureBuilt();
  mariadb = await startMariadb();
});

afterEach(async () => {
  await server?.end();
  server = undefined;
});

afterAll(async () => {
  await mariadb.stop();
  keepResults(results, ALL.length);
  console.info(`The server runs with ${LIMITED_BY}.\n${describeResults(results)}`);
});

it.each(ALL)('holds against: $name', async (attack) => {
  const url = attack.database === undefined ? undefined : await mariadb.createDatabase();
  server = await LimitedServer.start(attack, url);
  const result = await measure(attack, server);
  results.push(result);

  expect(result.alive).toBe(true);
  expect(result.duplicates).toBe(0);
  expect(Object.keys(result.ids)).toEqual(['200']);
  expect(new Set(result.probes)).toEqual(new Set([200]));
  expect(result.ratio).toBeLessThanOrEqual(MAX_RATIO);
  expect(result.peakMib).toBeLessThan(maxPeakMib(attack));
  if (attack.allowed !== undefined)
    expect(attack.allowed).toEqual(expect.arrayContaining(Object.keys(result.attacker)));
});

it('a valid token is accepted at an address that guessed too often', async () => {
  server = await LimitedServer.start({ name: 'guessing', run: () => Promise.resolve() });
  const change = async (token: string): Promise<number> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const path = '/api/tags/leaf-segment-test';
    return (await call(server!.port, path, { method: 'PATCH', headers, body: '{"step":1000}' })).status;
  };
  expect(await change(ADMIN_TOKEN)).toBe(200);
  for (let guess = 0; guess < FAILURES_BEFORE_429; guess++) expect(await change(`guess-${guess}`)).toBe(401);
  expect(await change('guess')).toBe(429);
  expect(await change(ADMIN_TOKEN)).toBe(200);
});
