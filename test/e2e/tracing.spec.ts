import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { loadConfig } from '../../apps/leaf-server/src/config/leaf-config';
import { requirePackages } from '../../apps/leaf-server/src/tracing/sdk';
import { ensureBuilt } from '../support/build';
import { BuiltServers } from '../support/servers/built-server';
import { insertTag } from '../support/servers/data-directory';
import { call, text } from '../support/http/http';
import { metric } from '../support/http/metrics';
import { startTestServer, type TestServer } from '../support/servers/server';
import { type CollectedSpan, TraceCollector } from '../support/fakes/trace-collector';
import { until } from '../support/until';

const TAG = 'leaf-segment-test';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const [CLIENT, SERVER, ERROR] = [3, 2, 2];
/** Far above what a stop may wait for traces. */
const STOP_LIMIT_MS = 15_000;

describe('OpenTelemetry traces', () => {
  let collector: TraceCollector;
  const built = new BuiltServers();
  beforeEach(async () => {
    collector = await TraceCollector.start();
  });
  afterEach(async () => {
    await collector.stop();
    await built.end();
  });

  /** The spans of a server that did `act` and was stopped. */
  async function spansOf(act: (server: TestServer) => Promise<unknown>, env: NodeJS.ProcessEnv = {}): Promise<void> {
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env };
    const environment = asEnvironment(settings);
    try {
      const server = await startTestServer(settings);
      await act(server).finally(() => server.stop());
    } finally {
      environment.restore();
    }
  }

  /** Where the SDK reads them. */
  function asEnvironment(settings: NodeJS.ProcessEnv): { restore(): void } {
    return jest.replaceProperty(process, 'env', { ...process.env, ...settings });
  }

  function one(name: string): CollectedSpan {
    expect(collector.named(name)).toHaveLength(1);
    return collector.named(name)[0]!;
  }

  it('tell of a request, and below it of the segment that it had to wait for', async () => {
    const traceparent = `00-${TRACE}-${PARENT}-01`;
    let directory = '';
    await spansOf(async (server) => {
      directory = server.directory;
      await text(server.port, `/api/segment/get/${TAG}`, { headers: { traceparent } });
      await text(server.port, `/api/segment/get/${TAG}`);
    });
    const [first, second] = collector.named('GET /api/segment/get/:tag');
    expect(first).toMatchObject({ kind: SERVER, traceId: TRACE, parentSpanId: PARENT, service: 'leaf' });
    expect(first?.attributes).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'http.route': '/api/segment/get/:tag',
      'url.path': `/api/segment/get/${TAG}`,
      'url.scheme': 'http',
    });
    expect(second).toMatchObject({ kind: SERVER, parentSpanId: undefined, service: 'leaf' });
    expect(second?.traceId).not.toBe(TRACE);
    const allocation = one('segment allocate');
    expect(allocation).toMatchObject({ kind: CLIENT, traceId: TRACE, parentSpanId: first?.spanId });
    expect(allocation.attributes).toEqual({
      'leaf.tag': TAG,
      'leaf.database': `sqlite:${join(directory, 'leaf.sqlite')}`,
      'leaf.segment.size': 2000,
    });
  });

  it('tell of the worker ID', async () => {
    await spansOf(() => Promise.resolve());
    const acquisition = one('worker acquire');
    expect(acquisition).toMatchObject({ kind: CLIENT, parentSpanId: undefined });
    expect(acquisition.attributes).toMatchObject({
      'leaf.registry': expect.stringContaining('database'),
      'leaf.worker_id': expect.any(Number),
    });
  });

  it('tell what failed', async () => {
    await spansOf(async ({ port }) => {
      expect((await call(port, '/api/segment/get/unknown')).status).toBe(404);
      expect((await call(port, '/no/such/route')).status).toBe(404);
    });
    expect(one('GET /api/segment/get/:tag')).toMatchObject({ attributes: { 'http.response.status_code': 404 } });
    expect(one('GET /api/segment/get/:tag').status).not.toBe(ERROR);
    expect(one('GET').attributes).toMatchObject({ 'url.path': '/no/such/route' });
  });

  it('do not tell the lease of a worker window', async () => {
    const lease = '5f0c6b9e2a7d4c1f8e3b0a9d6c5f4e21';
    const headers = { authorization: 'Bearer worker-token-0123456789' };
    await spansOf(
      async ({ port }) => {
        for (const path of [`/api/workers/${lease}`, `/api/%77orkers/${lease}`, `/api/workers/${lease}/none`]) {
          await call(port, path, { method: 'DELETE', headers });
        }
      },
      { LEAF_WORKER_TOKENS: 'worker-token-0123456789' },
    );
    const paths = collector.spans.map(({ attributes }) => attributes['url.path']).filter((path) => path !== undefined);
    expect(paths).toEqual(['/api/workers/:lease', '/api/workers/:lease', '/api/workers/REDACTED/none']);
    expect(JSON.stringify(collector.spans)).not.toContain(lease);
  });

  it('tell what the database refused', async () => {
    await spansOf(async ({ port, directory }) => {
      insertTag(directory, { tag: 'invalid', step: 0 });
      expect((await call(port, '/api/segment/get/invalid')).status).toBe(503);
    });
    const request = one('GET /api/segment/get/:tag');
    expect(request).toMatchObject({ status: ERROR, attributes: { 'error.type': '503' } });
    const allocation = collector.named('segment allocate')[0];
    expect(allocation).toMatchObject({ status: ERROR, traceId: request.traceId, parentSpanId: request.spanId });
    expect(allocation?.attributes).toMatchObject({ 'leaf.tag': 'invalid', 'error.type': 'LEAF_TAG_ROW_INVALID' });
  });

  it('tell of the reports to the registry', async () => {
    await spansOf(
      async ({ port }) => {
        let age = 0;
        await until('a report', async () => {
          const before = age;
          age = (await metric(port, 'leaf_lease_report_age_seconds'))!;
          return age < before;
        });
      },
      { LEAF_SNOWFLAKE_REPORT_MS: '100' },
    );
    const attributes = { 'leaf.worker_id': expect.any(Number) as number };
    expect(collector.named('worker report')[0]).toMatchObject({ kind: CLIENT, attributes });
  });

  it('go where the settings say, with their headers and under their name', async () => {
    await spansOf(({ port }) => text(port, '/health/live'), {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/some/where?else=1`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20secret',
      OTEL_SERVICE_NAME: 'orders',
    });
    expect(one('GET /health/live').service).toBe('orders');
    expect(collector.paths[0]).toBe('/some/where?else=1');
    expect(collector.headers[0]).toMatchObject({ 'x-key': 'a secret' });
  });

  it('are left out as the sampler says', async () => {
    await spansOf(
      async ({ port }) => {
        await text(port, '/health/live');
        await text(port, '/health/live', { headers: { traceparent: `00-${TRACE}-${PARENT}-01` } });
        await text(port, '/health/live', { headers: { traceparent: `00-${TRACE}-${PARENT}-00` } });
      },
      { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' },
    );
    expect(collector.spans.map(({ name, traceId }) => [name, traceId])).toEqual([['GET /health/live', TRACE]]);
  });

  it('do no harm while nobody takes them', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port: deaf } = silent.address() as { port: number };
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${deaf}` };
    const environment = asEnvironment(settings);
    const server = await startTestServer(settings).finally(() => environment.restore());
    for (let i = 0; i < 100; i++) await text(server.port, `/api/segment/get/${TAG}`);
    const begunAt = performance.now();
    await server.stop();
    expect(performance.now() - begunAt).toBeLessThan(STOP_LIMIT_MS);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it('come from the files that are shipped, and a server that nobody listens to goes on without them', async () => {
    await ensureBuilt();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '50' };
    const server = await built.start(await built.makeDirectory(), env);
    await text(server.port, `/api/segment/get/${TAG}`);
    await until('first delivery', () => collector.named('GET /api/segment/get/:tag').length > 0);
    await collector.stop();
    await until('a warning', async () => {
      await text(server.port, `/api/segment/get/${TAG}`);
      return server.stdout.includes('Traces are lost');
    });
    server.signal('SIGTERM');
    expect(await server.exit()).toEqual({ code: 0, signal: null });
    expect(server.stdout.match(/Traces are lost/g)).toHaveLength(1);
  });

  it('are off without an endpoint', () => {
    expect(loadConfig({}).tracing).toBeUndefined();
  });
});

describe('the packages of OpenTelemetry', () => {
  it('are asked for by name when one is missing', () => {
    expect(() => requirePackages(['@opentelemetry/api', '@opentelemetry/nobody-installs-it'])).toThrow(
      expect.objectContaining({
        code: 'LEAF_CONFIG_INVALID',
        message: expect.stringContaining('npm install @opentelemetry/api @opentelemetry/nobody-installs-it'),
      }),
    );
  });
});
