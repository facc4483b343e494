import { MAX_ID } from '@leaf-ids/core';
import { MAX_STEP } from '@leaf-ids/core/internal';
import type { SegmentsView } from '../../../apps/leaf-server/src/monitor/views/views';
import { admin, ADMIN_TOKEN } from '../../support/http/admin';
import { insertTag, maxIdOf } from '../../support/servers/data-directory';
import { call, json, text } from '../../support/http/http';
import { problemCode } from '../../support/http/problem';
import { startTestServer, type TestServer } from '../../support/servers/server';
import { until } from '../../support/until';

/** From here on, one JavaScript number stands for several integers. */
const EXACT = 2n ** 53n;

let server: TestServer;
let port: number;
beforeAll(async () => {
  server = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN });
  port = server.port;
});
afterAll(() => server.stop());

async function make(tag: string, maxId: bigint, step: number): Promise<void> {
  const { status } = await admin(port, 'POST', '/api/tags', { tag, step, maxId: String(maxId) });
  expect(status).toBe(201);
}

function idsFrom(first: bigint, count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(first + BigInt(index)));
}

describe.each([
  ['2^53', EXACT - 5n],
  ['a billion times a billion', 10n ** 18n - 5n],
  ['the end', MAX_ID - 2000n],
])('around %s', (_what, first) => {
  const tag = `at-${first}`;
  beforeAll(() => make(tag, first, 10));

  it('every ID is exact, one at a time, in a batch and in a range', async () => {
    const singles: string[] = [];
    for (let n = 0; n < 10; n++) singles.push(await text(port, `/api/segment/get/${tag}`));
    expect(singles).toEqual(idsFrom(first, 10));
    const { ids } = await json<{ ids: string[] }>(port, `/api/segment/batch/${tag}?size=25`);
    expect(ids).toHaveLength(25);
    const { ranges } = await json<{ ranges: { from: string; to: string }[] }>(
      port,
      `/api/segment/range/${tag}?size=30`,
    );
    const ranged = ranges.flatMap(({ from, to }) => idsFrom(BigInt(from), Number(BigInt(to) - BigInt(from)) + 1));
    const all = [...singles, ...ids, ...ranged].map(BigInt);
    expect(ranged).toHaveLength(30);
    expect(all.every((id, index) => index === 0 || id > all[index - 1]!)).toBe(true);
    const row = await json<{ maxId: string }>(port, `/api/tags/${tag}`);
    expect(BigInt(row.maxId)).toBeGreaterThan(all.at(-1)!);
  });

  it('the console and the pages show it to the digit', async () => {
    const { maxId } = await json<{ maxId: string }>(port, `/api/tags/${tag}`);
    expect(await text(port, '/db')).toContain(`<td>${tag}</td><td>${maxId}</td>`);
    const { tags } = await json<SegmentsView>(port, '/api/monitor/segments');
    const shown = tags
      .find((view) => view.tag === tag)
      ?.segments.flatMap((segment) => (segment === null ? [] : [segment.max]));
    expect(shown?.length).toBeGreaterThan(0);
    for (const max of shown ?? []) expect(await text(port, '/cache')).toContain(`<td>${max}</td>`);
    expect(JSON.stringify(tags)).not.toMatch(/\de[+-]?\d/);
  });

  it('it is changed exactly, upwards only', async () => {
    const { maxId } = await json<{ maxId: string }>(port, `/api/tags/${tag}`);
    const path = `/api/tags/${tag}`;
    expect(problemCode(await admin(port, 'PATCH', path, { maxId: String(BigInt(maxId) - 1n) }))).toBe(
      'LEAF_MAX_ID_BACKWARDS',
    );
    const raised = await admin(port, 'PATCH', path, { maxId: String(BigInt(maxId) + 1n) });
    expect(JSON.parse(raised.body)).toMatchObject({ maxId: String(BigInt(maxId) + 1n) });
    expect(problemCode(await admin(port, 'PATCH', path, { maxId: String(MAX_ID + 1n) }))).toBe('LEAF_BODY_INVALID');
    expect(problemCode(await admin(port, 'PATCH', path, { maxId: Number(EXACT) }))).toBe('LEAF_BODY_INVALID');
  });
});

it('the last IDs of all are given, and then none, whatever is asked for', async () => {
  await make('last', MAX_ID - 10n, 5);
  const given: string[] = [];
  for (let n = 0; n < 10; n++) given.push(await text(port, '/api/segment/get/last'));
  expect(given).toEqual(idsFrom(MAX_ID - 10n, 10));
  for (const path of ['get/last', 'batch/last?size=10000', 'range/last?size=1000000', 'batch/last?size=1']) {
    expect(problemCode(await call(port, `/api/segment/${path}`))).toBe('LEAF_TAG_EXHAUSTED');
  }
  expect((await json<{ maxId: string }>(port, '/api/tags/last')).maxId).toBe(String(MAX_ID));
});

it('a range that would pass the end takes nothing, and single IDs are still given, below the step', async () => {
  await make('near', MAX_ID - 100n, 1000);
  for (const path of ['batch/near?size=101', 'range/near?size=1000000']) {
    expect(problemCode(await call(port, `/api/segment/${path}`))).toBe('LEAF_TAG_EXHAUSTED');
  }
  expect((await json<{ maxId: string }>(port, '/api/tags/near')).maxId).toBe(String(MAX_ID - 100n));
  // The server repeats the refusal until it tries the allocation again.
  const given = await until('the next try', async () => {
    const { status, body } = await call(port, '/api/segment/get/near');
    return status === 200 && body;
  });
  expect(given).toBe(String(MAX_ID - 100n));
});

it('the largest step is a step, and one beyond it is none, also when somebody wrote it by hand', async () => {
  await make('wide', 1n, MAX_STEP);
  expect(await text(port, '/api/segment/get/wide')).toBe('1');
  expect(Number((await json<{ maxId: string }>(port, '/api/tags/wide')).maxId)).toBe(MAX_STEP + 1);
  expect(problemCode(await admin(port, 'PATCH', '/api/tags/wide', { step: MAX_STEP + 1 }))).toBe('LEAF_BODY_INVALID');
  insertTag(server.directory, { tag: 'beyond', step: MAX_STEP + 1 });
  for (const path of ['get/beyond', 'batch/beyond?size=2', 'range/beyond?size=2']) {
    expect(problemCode(await call(port, `/api/segment/${path}`))).toBe('LEAF_TAG_ROW_INVALID');
  }
  expect(maxIdOf(server.directory, 'beyond')).toBe(1);
});
