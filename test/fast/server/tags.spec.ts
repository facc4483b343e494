import fc from 'fast-check';
import { admin, ADMIN_TOKEN } from '../../support/http/admin';
import { insertTag, maxIdOf } from '../../support/servers/data-directory';
import { type Answer, call, json, text } from '../../support/http/http';
import { problemCode } from '../../support/http/problem';
import { startTestServer, type TestServer } from '../../support/servers/server';
import { until } from '../../support/until';

const FIRST = 'leaf-segment-test';
const LARGEST = '9223372036854775807';

interface Row {
  readonly tag: string;
  readonly maxId: string;
  readonly step: number;
  readonly description: string;
  readonly updatedAt: string;
}

let server: TestServer;
let port: number;
/** Servers that stop while tests go on. */
const ending: Promise<void>[] = [];

beforeAll(async () => {
  server = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN });
  port = server.port;
});

afterAll(() => Promise.all([server.stop(), ...ending]));

function rowOf({ body }: Answer): Row {
  return JSON.parse(body) as Row;
}

async function create(tag: string, fields: object = {}): Promise<Row> {
  const answer = await admin(port, 'POST', '/api/tags', { tag, step: 100, ...fields });
  expect([answer.status, answer.body]).toEqual([201, expect.any(String)]);
  return rowOf(answer);
}

async function refused(answer: Promise<Answer>): Promise<string> {
  return problemCode(await answer);
}

describe('draining', () => {
  it('turns ready 503 while IDs are served, until it is undone', async () => {
    const begun = await admin(port, 'POST', '/api/server/drain');
    expect([begun.status, begun.body]).toEqual([200, '{"draining":true}']);
    const ready = await call(port, '/health/ready');
    expect(ready.status).toBe(503);
    expect(JSON.parse(ready.body)).toMatchObject({
      error: { drain: { status: 'down', message: expect.stringContaining('DELETE /api/server/drain') } },
    });
    const id = await call(port, `/api/segment/get/${FIRST}`, { headers: { connection: 'keep-alive' } });
    expect([id.status, id.headers.connection]).toEqual([200, 'close']);
    expect(await text(port, '/api/snowflake/get/order')).toMatch(/^\d{19}$/);
    expect((await admin(port, 'POST', '/api/server/drain')).body).toBe('{"draining":true}');
    const undone = await admin(port, 'DELETE', '/api/server/drain');
    expect([undone.status, undone.body]).toEqual([200, '{"draining":false}']);
    expect((await call(port, '/health/ready')).status).toBe(200);
    const next = await call(port, `/api/segment/get/${FIRST}`, { headers: { connection: 'keep-alive' } });
    expect([next.status, next.headers.connection]).toEqual([200, 'keep-alive']);
  });

  it('cannot be undone when the server is stopping', async () => {
    const other = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN, LEAF_SHUTDOWN_DRAIN_MS: '6000' });
    const closing = other.server.close();
    await until('not ready', async () => (await call(other.port, '/health/ready')).status === 503);
    expect(await refused(admin(other.port, 'DELETE', '/api/server/drain'))).toBe('LEAF_NOT_READY');
    expect((await call(other.port, '/health/ready')).status).toBe(503);
    // Its drain takes seconds, in which the other tests go on.
    ending.push(closing.then(() => other.stop()));
  });
});

describe('reading', () => {
  it('needs no token, and shows the rows as they stand', async () => {
    insertTag(server.directory, { tag: 'read-me', step: 7, maxId: 9_007_199_254_740_991 });
    const rows = await json<Row[]>(port, '/api/tags');
    expect(rows.map(({ tag }) => tag)).toEqual([...rows.map(({ tag }) => tag)].sort());
    const row = rows.find(({ tag }) => tag === 'read-me');
    expect(row).toEqual({
      tag: 'read-me',
      maxId: '9007199254740991',
      step: 7,
      description: '',
      updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(await json(port, '/api/tags/read-me')).toEqual(row);
  });

  it('creates a tag by its name alone, with the default step', async () => {
    const { status, body } = await admin(port, 'POST', '/api/tags', { tag: 'name-alone' });
    expect([status, JSON.parse(body)]).toEqual([201, expect.objectContaining({ maxId: '1', step: 2000 })]);
    expect((await admin(port, 'POST', '/api/tags', { tag: 'no-step', step: null })).status).toBe(400);
  });

  it('finds no tag that is none', async () => {
    expect(await refused(call(port, '/api/tags/nothing'))).toBe('LEAF_TAG_NOT_FOUND');
    for (const tag of ['a%20b', 'a%2Fb', "'%20OR%20'1'='1", 'x'.repeat(129), '%00']) {
      expect(await refused(call(port, `/api/tags/${tag}`))).toBe('LEAF_TAG_INVALID');
    }
  });

  it('is kept out of caches and other origins', async () => {
    const headers = { origin: 'http://elsewhere', authorization: `Bearer ${ADMIN_TOKEN}` };
    const answers = [
      await call(port, '/api/tags', { headers }),
      await call(port, '/api/tags/nothing', { headers }),
      await call(port, '/api/tags/nothing', { method: 'DELETE', headers }),
      await call(port, '/api/tags/nothing', { method: 'OPTIONS', headers }),
      await call(port, '/api/server/drain', { method: 'DELETE', headers }),
    ];
    for (const { headers: given } of answers) {
      expect(given['cache-control']).toBe('no-store');
      expect(Object.keys(given).filter((name) => name.startsWith('access-control'))).toStrictEqual([]);
    }
  });
});

describe('creating', () => {
  it('answers with the row and where it is', async () => {
    const tag = 'made:here._-';
    const answer = await admin(port, 'POST', '/api/tags', { tag, step: 5, maxId: '900', description: 'orders "üß"' });
    expect(answer.status).toBe(201);
    expect(answer.headers.location).toBe(`/api/tags/${tag}`);
    const row = rowOf(answer);
    expect(row).toMatchObject({ tag, step: 5, maxId: '900', description: 'orders "üß"' });
    expect(await json(port, answer.headers.location!)).toEqual(row);
    expect(Math.abs(Date.parse(row.updatedAt) - Date.now())).toBeLessThan(60_000);
    expect(await text(port, `/api/segment/get/${tag}`)).toBe('900');
  });

  it('makes a tag that is served at once, though nobody found it a moment ago', async () => {
    expect(await refused(call(port, '/api/segment/get/at-once'))).toBe('LEAF_TAG_NOT_FOUND');
    await create('at-once');
    expect(await text(port, '/api/segment/get/at-once')).toBe('1');
  });

  it('makes a tag once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => admin(port, 'POST', '/api/tags', { tag: 'race', step: n + 1 })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
    for (const answer of answers.filter(({ status }) => status === 409)) {
      expect(problemCode(answer)).toBe('LEAF_TAG_EXISTS');
    }
    const made = rowOf(answers.find(({ status }) => status === 201)!);
    expect(await json(port, '/api/tags/race')).toEqual(made);
  });

  it('refuses what is no name', async () => {
    for (const tag of ['', 'a b', 'a/b', 'ü', 'x'.repeat(129), 'a\n']) {
      expect(await refused(admin(port, 'POST', '/api/tags', { tag, step: 1 }))).toBe('LEAF_TAG_INVALID');
    }
  });

  it('takes the largest numbers exactly', async () => {
    await create('largest', { maxId: LARGEST, step: 2_147_483_647 });
    expect(await json(port, '/api/tags/largest')).toMatchObject({ maxId: LARGEST, step: 2_147_483_647 });
  });
});

describe('changing', () => {
  it('changes what is given and leaves the rest', async () => {
    await create('change', { description: 'before' });
    const path = '/api/tags/change';
    expect(rowOf(await admin(port, 'PATCH', path, { step: 50 }))).toMatchObject({ step: 50, description: 'before' });
    expect(rowOf(await admin(port, 'PATCH', path, { description: '' }))).toMatchObject({ step: 50, description: '' });
    const answer = await admin(port, 'PATCH', path, { maxId: '9007199254740993' });
    expect(answer.status).toBe(200);
    expect(rowOf(answer)).toMatchObject({ step: 50, maxId: '9007199254740993' });
  });

  it('takes the new step and maxId with the next segment', async () => {
    await create('next-load', { step: 4 });
    expect(await text(port, '/api/segment/get/next-load')).toBe('1');
    await admin(port, 'PATCH', '/api/tags/next-load', { step: 1000, maxId: '1000' });
    const ids = JSON.parse(await text(port, '/api/segment/batch/next-load?size=3')) as { ids: string[] };
    expect(ids.ids).toEqual(['2', '3', '4']);
    const after = await until('the new range', async () => {
      const id = Number(await text(port, '/api/segment/get/next-load'));
      return id >= 1000 && id;
    });
    expect(after).toBe(1000);
    await until('a segment of the new step', () => maxIdOf(server.directory, 'next-load')! >= 2000);
  });

  it('never lowers maxId, whoever is first', async () => {
    await create('rise', { maxId: '50' });
    const ask = (maxId: string): Promise<Answer> => admin(port, 'PATCH', '/api/tags/rise', { maxId });
    expect(await refused(ask('49'))).toBe('LEAF_MAX_ID_BACKWARDS');
    const answers = await Promise.all(['300', '100', '400', '200', '350'].map(ask));
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect(problemCode(answer)).toBe('LEAF_MAX_ID_BACKWARDS');
    }
    expect(await json(port, '/api/tags/rise')).toMatchObject({ maxId: '400' });
  });

  it('refuses an unknown tag, and no change at all', async () => {
    expect(await refused(admin(port, 'PATCH', '/api/tags/nothing', { step: 1 }))).toBe('LEAF_TAG_NOT_FOUND');
    expect(await refused(admin(port, 'PATCH', '/api/tags/a%20b', { step: 1 }))).toBe('LEAF_TAG_INVALID');
    expect(await refused(admin(port, 'PATCH', `/api/tags/${FIRST}`, {}))).toBe('LEAF_BODY_INVALID');
  });
});

describe('deleting', () => {
  it('ends the IDs at once, and a new tag of the name goes on above', async () => {
    await create('gone', { step: 1000 });
    expect(await text(port, '/api/segment/get/gone')).toBe('1');
    const answer = await admin(port, 'DELETE', '/api/tags/gone');
    expect([answer.status, answer.body]).toEqual([204, '']);
    for (const verb of ['get', 'batch', 'range']) {
      expect(await refused(call(port, `/api/segment/${verb}/gone`))).toBe('LEAF_TAG_NOT_FOUND');
    }
    expect(await refused(call(port, '/api/tags/gone'))).toBe('LEAF_TAG_NOT_FOUND');
    expect(await refused(admin(port, 'DELETE', '/api/tags/gone'))).toBe('LEAF_TAG_NOT_FOUND');
    expect(await refused(admin(port, 'POST', '/api/tags', { tag: 'gone', step: 1, maxId: '2' }))).toBe(
      'LEAF_MAX_ID_BACKWARDS',
    );
    const { maxId } = await create('gone');
    expect(Number(maxId)).toBeGreaterThan(1000);
    expect(await text(port, '/api/segment/get/gone')).toBe(maxId);
  });

  it('repeats no ID, however often it is done under load', async () => {
    await create('again', { step: 3 });
    const seen: string[] = [];
    let done = false;
    const callers = Array.from({ length: 4 }, async () => {
      while (!done) {
        const { status, body } = await call(port, '/api/segment/get/again');
        if (status === 200) seen.push(body);
        else expect([404, 503]).toContain(status);
      }
    });
    for (let round = 0; round < 8; round++) {
      const before = seen.length;
      await until('IDs', () => seen.length > before + 5);
      expect((await admin(port, 'DELETE', '/api/tags/again')).status).toBe(204);
      await create('again', { step: 3 });
    }
    done = true;
    await Promise.all(callers);
    expect(new Set(seen).size).toBe(seen.length);
  });
});

describe('pausing', () => {
  it('refuses every kind of call until it is undone, and no other tag', async () => {
    await create('rest');
    expect(await text(port, '/api/segment/get/rest')).toBe('1');
    const paused = await admin(port, 'POST', '/api/tags/rest/pause');
    expect([paused.status, paused.body]).toEqual([200, '{"tag":"rest","paused":true}']);
    for (const verb of ['get', 'batch', 'range']) {
      const answer = await call(port, `/api/segment/${verb}/rest`);
      expect([problemCode(answer), answer.headers['retry-after']]).toEqual(['LEAF_TAG_PAUSED', '5']);
    }
    expect(await text(port, '/metrics')).toContain('\nleaf_segment_tags_paused 1\n');
    expect(Number(await text(port, `/api/segment/get/${FIRST}`))).toBeGreaterThan(0);
    expect((await call(port, '/health/ready')).status).toBe(200);
    expect((await admin(port, 'POST', '/api/tags/rest/pause')).status).toBe(200);
    const resumed = await admin(port, 'POST', '/api/tags/rest/resume');
    expect([resumed.status, resumed.body]).toEqual([200, '{"tag":"rest","paused":false}']);
    expect(await text(port, '/api/segment/get/rest')).toBe('2');
    expect((await admin(port, 'POST', '/api/tags/rest/resume')).status).toBe(200);
  });

  it('goes with the tag', async () => {
    await create('rest-and-go');
    await admin(port, 'POST', '/api/tags/rest-and-go/pause');
    await admin(port, 'DELETE', '/api/tags/rest-and-go');
    expect(await refused(call(port, '/api/segment/get/rest-and-go'))).toBe('LEAF_TAG_NOT_FOUND');
    await create('rest-and-go');
    expect(await text(port, '/api/segment/get/rest-and-go')).toBe('1');
  });

  it.each(['pause', 'resume'])('%s finds no tag that is none', async (verb) => {
    expect(await refused(admin(port, 'POST', `/api/tags/nothing/${verb}`))).toBe('LEAF_TAG_NOT_FOUND');
    expect(await refused(admin(port, 'POST', `/api/tags/a%20b/${verb}`))).toBe('LEAF_TAG_INVALID');
  });
});

describe('bodies', () => {
  it('tell every fault at once', async () => {
    const answer = await admin(port, 'POST', '/api/tags', { step: 0, maxId: 5, colour: 'red' });
    expect(problemCode(answer)).toBe('LEAF_BODY_INVALID');
    for (const name of ['tag', 'step', 'maxId', 'colour']) expect(answer.body).toContain(name);
  });

  const name = fc.oneof(
    fc.constantFrom('tag', 'step', 'maxId', 'description', 'constructor', '__proto__', 'toString', 'then'),
    fc.string({ maxLength: 5 }),
  );
  const value = fc.oneof(
    fc.constantFrom<unknown>(1, 0, '1', LARGEST, '9223372036854775808', null, 2 ** 31, 'fuzz', '\0', '\ud800'),
    fc.jsonValue(),
    fc.string({ unit: 'binary' }),
  );
  const body = fc.oneof(fc.dictionary(name, value), fc.jsonValue(), fc.array(fc.dictionary(name, value)));
  const fields = fc.record({ tag: value, step: value, maxId: value, description: value }, { requiredKeys: [] });

  it('of any kind are taken or refused, never a fault of the server', async () => {
    await create('fuzzed');
    await fc.assert(
      fc.asyncProperty(fc.oneof(fields, body), fc.constantFrom('POST', 'PATCH'), async (given, method) => {
        const path = method === 'POST' ? '/api/tags' : '/api/tags/fuzzed';
        const answer = await admin(port, method, path, given);
        expect(answer.status).toBeLessThan(500);
        if (answer.status >= 400) problemCode(answer);
      }),
      { numRuns: 400 },
    );
  });
});

describe('without segment mode', () => {
  it('there are no tags, and the server can be drained', async () => {
    const other = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN, LEAF_SEGMENT_ENABLED: 'false' });
    try {
      const requests = [
        ['GET', ''],
        ['GET', '/order'],
        ['POST', '', { tag: 'order', step: 1 }],
        ['PATCH', '/order', { step: 1 }],
        ['DELETE', '/order'],
        ['POST', '/order/pause'],
        ['POST', '/order/resume'],
      ] as const;
      for (const [method, path, given] of requests) {
        expect(await refused(admin(other.port, method, `/api/tags${path}`, given))).toBe('LEAF_SEGMENT_DISABLED');
      }
      expect((await admin(other.port, 'POST', '/api/server/drain')).status).toBe(200);
    } finally {
      await other.stop();
    }
  });
});
