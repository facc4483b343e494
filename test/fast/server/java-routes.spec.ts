import { LogLines } from '../../support/log-lines';
import { insertTag, makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';
import { call, text } from '../../support/http/http';
import { startTestServer, type TestServer } from '../../support/servers/server';

const TEXT = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
/** The first ID of each row tells which one was served. */
const ROWS = { order: 1_000, 'order.v1': 2_000, 'a.b': 3_000, 'a.b.c': 4_000, 'order.json': 5_000 };
const SNOWFLAKE = '1169786042799259000';
const DECODED = { sequenceId: '3448', workerId: '39' };

/** A path, what the Java service sends (the number: an ID of this row), its type, and `Accept` of the request. */
type Question = readonly [
  path: string,
  sent: number | 'snowflake' | 'decoded' | 'page',
  type?: string,
  accept?: string,
];

const JAVA: readonly Question[] = [
  ['/api/segment/get/order', 1_000, TEXT],
  ['/api/segment/get/order', 1_000, TEXT, '*/*'],
  ['/api/segment/get/order', 1_000, TEXT, 'text/plain'],
  ['/api/segment/get/order', 1_000, TEXT, 'text/plain, */*'],
  ['/api/segment/get/order', 1_000, TEXT, 'text/plain, application/json, */*'],
  ['/api/segment/get/order', 1_000, JSON_TYPE, 'application/json'],
  ['/api/segment/get/order', 1_000, JSON_TYPE, 'application/json, application/*+json'],
  ['/api/segment/get/order', 1_000, JSON_TYPE, 'application/json, text/plain, */*'],
  ['/api/segment/get/order', 1_000, JSON_TYPE, 'text/plain;q=0.8, application/json'],
  ['/api/segment/get/order', 1_000, JSON_TYPE, 'application/json;charset=UTF-8'],
  ['/api/segment/get/order?x=1', 1_000, TEXT],
  ['/api/segment/get/order?x=1.5/;v', 1_000, TEXT],
  ['/api/segment/get/order.v1', 1_000, TEXT],
  ['/api/segment/get/order%2Ev1', 1_000, TEXT],
  ['/api/segment/get/order%2ev1', 1_000, TEXT],
  ['/api/segment/get/order.v2', 1_000, TEXT],
  ['/api/segment/get/order.', 1_000, TEXT],
  ['/api/segment/get/order.json', 1_000, JSON_TYPE],
  ['/api/segment/get/order.json', 1_000, JSON_TYPE, 'text/plain'],
  ['/api/segment/get/order.v1', 1_000, JSON_TYPE, 'application/json'],
  ['/api/segment/get/order.v1?x', 1_000, TEXT],
  ['/api/segment/get/order.v1/', 2_000, TEXT],
  ['/api/segment/get/order.json/', 5_000, TEXT],
  ['/api/segment/get/a.b.c', 3_000, TEXT],
  ['/api/segment/get/a.b.c.d', 4_000, TEXT],
  ['/api/segment/get/a.b.c/', 4_000, TEXT],
  ['/api/segment/get/order/', 1_000, TEXT],
  ['/api/segment/get/order/?x', 1_000, TEXT],
  ['/api/segment/get/order;v=1', 1_000, TEXT],
  ['/api/segment/get/order;v=1.2', 1_000, TEXT],
  ['/api/segment/get/order.v1;v=1', 1_000, TEXT],
  ['/api/segment/get/order;v=1/', 1_000, TEXT],
  ['/api/segment/get;v=1/order', 1_000, TEXT],
  ['/api;v=1/segment;w/get/order', 1_000, TEXT],
  ['//api/segment/get/order', 1_000, TEXT],
  ['/api//segment/get/order', 1_000, TEXT],
  ['/api/segment///get/order', 1_000, TEXT],
  ['/api/segment/get//order', 1_000, TEXT],
  ['/api/segment/get/order//', 1_000, TEXT],
  ['/api/segment/get/%6frder', 1_000, TEXT],
  ['/api/snowflake/get/any', 'snowflake', TEXT],
  ['/api/snowflake/get/any.thing', 'snowflake', TEXT],
  ['/api/snowflake/get/any.json', 'snowflake', JSON_TYPE],
  ['/api/snowflake/get/any/', 'snowflake', TEXT],
  ['/api/snowflake/get/any;v=1', 'snowflake', TEXT],
  ['//api/snowflake/get/any', 'snowflake', TEXT],
  ['/api/snowflake/get/any', 'snowflake', JSON_TYPE, 'application/json'],
  [`/decodeSnowflakeId?snowflakeId=${SNOWFLAKE}`, 'decoded', JSON_TYPE],
  [`/decodeSnowflakeId?snowflakeId=000${SNOWFLAKE}`, 'decoded', JSON_TYPE],
  [`/decodeSnowflakeId?snowflakeId=%2B${SNOWFLAKE}`, 'decoded', JSON_TYPE],
  [`/decodeSnowflakeId.json?snowflakeId=${SNOWFLAKE}`, 'decoded', JSON_TYPE],
  [`/decodeSnowflakeId/?snowflakeId=${SNOWFLAKE}`, 'decoded', JSON_TYPE],
  [`/decodeSnowflakeId;v=1?snowflakeId=${SNOWFLAKE}`, 'decoded', JSON_TYPE],
  [`//decodeSnowflakeId?snowflakeId=${SNOWFLAKE}`, 'decoded', JSON_TYPE],
  ['/cache', 'page'],
  ['/cache/', 'page'],
  ['/cache.html', 'page'],
  ['/db', 'page'],
  ['/db/', 'page'],
  ['/db.html', 'page'],
  ['//db', 'page'],
];

describe.each([{ fastPath: true }, { fastPath: false }])(
  'LEAF_JAVA_PATHS=true, $fastPath for the fast route',
  (options) => {
    let server: TestServer;

    beforeAll(async () => {
      server = await startTestServer({ LEAF_JAVA_PATHS: 'true', LEAF_JSON_IDS: 'number' }, options);
      for (const [tag, maxId] of Object.entries(ROWS)) insertTag(server.directory, { tag, maxId, step: 1000 });
    });
    afterAll(() => server.stop());

    it.each(JAVA.map((question) => ({ question })))('the Java service: $question', async ({ question }) => {
      const [path, sent, type, accept] = question;
      const { status, body, headers } = await call(
        server.port,
        path,
        accept === undefined ? {} : { headers: { accept } },
      );
      expect(status).toBe(200);
      if (type !== undefined) expect(headers['content-type']).toBe(type);
      if (typeof sent === 'number') expect(Math.floor(Number(body) / 1000) * 1000).toBe(sent);
      else if (sent === 'snowflake') expect(body).toMatch(/^\d{17,19}$/);
      else if (sent === 'decoded') expect(JSON.parse(body)).toMatchObject(DECODED);
      else expect(headers['content-type']).toContain('text/html');
    });

    it.each(['/api/segment/get/.order', '/api/segment/get/order/more', '/api/segment/get/'])(
      '%s has no tag',
      async (path) => {
        expect((await call(server.port, path)).status).toBe(404);
      },
    );

    it('other routes keep their paths', async () => {
      const { body } = await call(server.port, '/api/segment/batch/order.v1?size=2');
      expect(JSON.parse(body)).toMatchObject({ tag: 'order.v1' });
      expect((await call(server.port, '/metrics/')).status).toBe(404);
    });
  },
);

describe('without LEAF_JAVA_PATHS', () => {
  it('a dot belongs to the tag, and a pair of tags that the Java service confuses is named at the start', async () => {
    const directory = await makeDataDirectory();
    const first = await startTestServer({ LEAF_DATA_DIR: directory });
    insertTag(
      directory,
      { tag: 'order', step: 10 },
      { tag: 'order.v1', maxId: 2000, step: 10 },
      { tag: 'a.b', step: 10 },
    );
    expect(await text(first.port, '/api/segment/get/order.v1')).toBe('2000');
    await first.stop();
    const warned = async (env: NodeJS.ProcessEnv): Promise<string[]> => {
      const lines = new LogLines();
      const server = await startTestServer({ LEAF_DATA_DIR: directory, LEAF_LOG_LEVEL: 'warn', ...env });
      await server.stop();
      lines.end();
      return lines.all.filter((line) => line.includes('cuts a tag'));
    };
    expect(await warned({})).toEqual([
      expect.stringMatching(/IDs of .{0,2}order.{0,2} for .{0,2}order\.v1.{0,2}, where/),
    ]);
    expect(await warned({ LEAF_JAVA_PATHS: 'false' })).toStrictEqual([]);
    await removeDataDirectory(directory);
  });

  it.each([
    ['', '"1"', /^"\d{17,19}"$/],
    ['number', '1', /^\d{17,19}$/],
  ])('LEAF_JSON_IDS="%s" shows an ID in JSON', async (LEAF_JSON_IDS, first, snowflake) => {
    const server = await startTestServer({ LEAF_JSON_IDS });
    const headers = { accept: 'application/json' };
    expect((await call(server.port, '/api/snowflake/get/x', { headers })).body).toMatch(snowflake);
    expect((await call(server.port, '/api/segment/get/leaf-segment-test', { headers })).body).toBe(first);
    await server.stop();
  });
});
