import { ensureBuilt } from '../support/build';
import { BuiltServers } from '../support/servers/built-server';
import { insertTag } from '../support/servers/data-directory';
import { EventReader } from '../support/http/event-reader';
import { call } from '../support/http/http';
import { problemCode } from '../support/http/problem';
import { until } from '../support/until';

const STREAM = '/api/monitor/stream';
const TAG = 'leaf-segment-test';
const servers = new BuiltServers();

beforeAll(ensureBuilt);
afterEach(() => servers.end());

/** Longer than any test. */
const DRAIN = { LEAF_SHUTDOWN_DRAIN_MS: '600000' };

it('the end of a server ends the streams at once, and gives no new ones while it drains', async () => {
  const built = await servers.start(await servers.makeDirectory(), DRAIN);
  const reader = await EventReader.open(built.port, STREAM);
  await reader.next('snowflake');
  built.signal('SIGTERM');
  await until('the end of the stream', () => reader.ended);
  expect(problemCode(await call(built.port, STREAM))).toBe('LEAF_NOT_READY');
  expect((await call(built.port, `/api/segment/get/${TAG}`)).status).toBe(200);
  expect((await call(built.port, '/api/monitor/overview')).status).toBe(200);
});

it('the end of a server waits for no reader, not even for one that takes nothing', async () => {
  const directory = await servers.makeDirectory();
  const built = await servers.start(directory);
  for (let n = 0; n < 300; n++) insertTag(directory, { tag: `tag-${n}`, step: 10 });
  const [reader, stuck] = await Promise.all([
    EventReader.open(built.port, STREAM),
    EventReader.open(built.port, STREAM),
  ]);
  await reader.next('snowflake');
  stuck.response.pause();
  const before = reader.all('snowflake').length;
  await until('two more rounds', () => reader.all('snowflake').length >= before + 2);
  built.signal('SIGINT');
  expect(await built.exit()).toEqual({ code: 0, signal: null });
  await until('the end of the stream', () => reader.ended);
  stuck.close();
});
