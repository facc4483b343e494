import type {
  OverviewView,
  RemovedView,
  SegmentsView,
  SnowflakeView,
} from '../../apps/leaf-server/src/monitor/views/views';
import { admin, ADMIN_TOKEN } from '../support/http/admin';
import { EventReader } from '../support/http/event-reader';
import { call, json, text } from '../support/http/http';
import { problemCode } from '../support/http/problem';
import { startTestServer, type TestServer } from '../support/servers/server';
import { until } from '../support/until';

const STREAM = '/api/monitor/stream';
const TAG = 'leaf-segment-test';
const MAX_STREAMS = 32;
const MAX_STREAMS_OF_ADDRESS = 16;

/** A server of its own, one that reads from the beginning and one that comes after the first step. */
class History {
  private server: TestServer | undefined;
  private readers: readonly Promise<EventReader>[] = [];

  async begin(): Promise<void> {
    const { port: own } = (this.server = await startTestServer());
    await text(own, '/api/snowflake/batch/order?size=1000');
    const early = EventReader.open(own, STREAM);
    const late = early
      .then((reader) => until('a step', () => stepsIn(reader).length >= 1))
      .then(() => EventReader.open(own, STREAM));
    this.readers = [early, late];
    // A failure is reported by the test that asks for them.
    late.catch(() => undefined);
  }

  /** The steps that each reader was told, two at least, and those that there are. */
  async read(): Promise<{ readonly told: readonly number[][]; readonly all: readonly number[] }> {
    const readers = await Promise.all(this.readers);
    await until('two steps', () => readers.every((reader) => stepsIn(reader).length >= 2));
    const told = readers.map(stepsIn);
    const { history: all } = await json<OverviewView>(this.server!.port, '/api/monitor/overview');
    return { told, all: all.snowflake };
  }

  async end(): Promise<void> {
    for (const reader of await Promise.allSettled(this.readers))
      if (reader.status === 'fulfilled') reader.value.close();
    await this.server?.stop();
  }
}

function stepsIn(reader: EventReader): number[] {
  return reader.all<OverviewView>('overview').flatMap(({ history: told }) => [...told.snowflake]);
}

let server: TestServer;
let port: number;
const readers: EventReader[] = [];
const history = new History();

// A step takes five seconds: they pass while the other tests run.
beforeAll(() => history.begin());
afterAll(() => history.end());

beforeEach(async () => {
  server = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN });
  port = server.port;
});

afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await server.stop();
});

async function open(at = port, address?: string): Promise<EventReader> {
  const reader = await EventReader.open(at, STREAM, address);
  readers.push(reader);
  return reader;
}

/** The names of the tags in each event about segments. */
function tagsIn(reader: EventReader): string[][] {
  return reader.all<SegmentsView>('segments').map(({ tags }) => tags.map(({ tag }) => tag));
}

/** Resolves when that many more rounds have arrived. */
async function rounds(reader: EventReader, count: number): Promise<void> {
  const before = reader.all('snowflake').length;
  await until('rounds', () => reader.all('snowflake').length >= before + count);
}

describe('the stream', () => {
  it('begins with all that there is', async () => {
    const reader = await open();
    expect(reader.response.statusCode).toBe(200);
    expect(reader.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-accel-buffering': 'no',
    });
    await reader.next<SnowflakeView>('snowflake');
    expect(reader.others).toEqual([': leaf', 'retry: 2000']);
    expect(reader.events.slice(0, 3).map(({ name }) => name)).toEqual(['overview', 'segments', 'snowflake']);
    const [overview] = reader.all<OverviewView>('overview');
    const [snowflake] = reader.all<SnowflakeView>('snowflake');
    expect(overview).toMatchObject({ name: 'leaf', ready: true, history: { stepMs: 5000 } });
    expect(snowflake).toMatchObject({ enabled: true, worker: { workerId: expect.any(Number) } });
    expect(tagsIn(reader)[0]).toEqual([TAG]);
    const { tags: asked } = await json<SegmentsView>(port, '/api/monitor/segments');
    expect(reader.all<SegmentsView>('segments')[0]?.tags).toEqual(asked);
  });

  it('then tells of the tags that changed, and of those that are gone', async () => {
    for (const tag of ['one', 'two']) await admin(port, 'POST', '/api/tags', { tag, step: 100 });
    const reader = await open();
    await reader.next('snowflake');
    expect(tagsIn(reader)).toEqual([[TAG, 'one', 'two']]);

    expect(await text(port, '/api/segment/get/two')).toBe('1');
    const changed = await reader.next<SegmentsView>('segments', ({ tags }) => tags.some(({ issued }) => issued === 1));
    expect(changed.tags).toContainEqual(expect.objectContaining({ tag: 'two', issued: 1, position: '2' }));
    expect(changed.tags.map(({ tag }) => tag)).not.toContain(TAG);

    await admin(port, 'DELETE', '/api/tags/one');
    expect(await reader.next<RemovedView>('removed')).toEqual({ tags: ['one'] });

    await admin(port, 'POST', '/api/tags', { tag: 'one', step: 7 });
    const from = reader.events.length;
    await reader.next<SegmentsView>('segments', ({ tags }) => tags.some(({ tag }) => tag === 'one'), from);
    await admin(port, 'POST', '/api/tags/one/pause');
    const paused = await reader.next<SegmentsView>('segments', ({ tags }) => tags.some((tag) => tag.paused), from);
    // A sample of the rates in the same round changes "two" as well.
    expect(paused.tags).toContainEqual(expect.objectContaining({ tag: 'one', paused: true }));
    expect(paused.tags.map(({ tag }) => tag)).not.toContain(TAG);
    expect(reader.all('removed')).toHaveLength(1);
  });

  it('has nothing to tell of tags that rest', async () => {
    const reader = await open();
    await rounds(reader, 4);
    expect(tagsIn(reader)).toEqual([[TAG]]);
  });

  it('begins anew for a reader that comes back', async () => {
    const first = await open();
    await first.next('snowflake');
    first.close();
    await admin(port, 'POST', '/api/tags', { tag: 'meanwhile', step: 100 });
    const again = await open();
    await until('the new tag', () => tagsIn(again).flat().includes('meanwhile'));
    expect(tagsIn(again)[0]).toContain(TAG);
    // Beside one that is there all the time, as well.
    const third = await open();
    await third.next('snowflake');
    expect(tagsIn(third)[0]).toEqual([TAG, 'meanwhile']);
  });

  it('is given to 32 clients, and to the next when one has left', async () => {
    const addresses = Array.from({ length: MAX_STREAMS }, (_, index) => `127.0.0.${1 + (index % 2)}`);
    const all = await Promise.all(addresses.map((address) => open(port, address)));
    const refused = await call(port, STREAM);
    expect(problemCode(refused)).toBe('LEAF_OVERLOADED');
    expect(refused.headers['retry-after']).toBe('10');
    await Promise.all(all.map((reader) => reader.next('snowflake')));
    all[0]?.close();
    await until('room', () => open().catch(() => undefined));
  });

  it('is given to half as many at one address', async () => {
    await Promise.all(Array.from({ length: MAX_STREAMS_OF_ADDRESS }, () => open()));
    await expect(open()).rejects.toThrow('503');
    await open(port, '127.0.0.2');
  });

  it('is no stream for HEAD', async () => {
    const { status, headers, body } = await call(port, STREAM, { method: 'HEAD' });
    expect([status, headers['content-type'], body]).toEqual([200, 'text/event-stream; charset=utf-8', '']);
  });

  it('goes on while this server drains by command', async () => {
    const reader = await open();
    await admin(port, 'POST', '/api/server/drain');
    const drained = await reader.next<OverviewView>('overview', ({ ready }) => !ready);
    expect(drained.parts.at(-1)).toMatchObject({ name: 'drain', status: 'down' });
    await rounds(reader, 1);
  });

  it('sends each step of the history once', async () => {
    const { told, all } = await history.read();
    expect(told).toHaveLength(2);
    for (const steps of told) expect(steps).toEqual(all.slice(0, steps.length));
  });
});
