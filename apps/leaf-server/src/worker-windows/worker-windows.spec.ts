import 'reflect-metadata';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Clock } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { Leaf, type LeafOptions } from '@leaf-ids/id';
import { ApiContract, type ApiRoute } from '../../../../test/support/openapi/contract';
import type { ApiDescription } from '../../../../test/support/openapi/document';
import { faultsOfDocument } from '../../../../test/support/openapi/document-rules';
import { nestModules } from '../../../../test/support/servers/nest-modules';
import { LastFailure, ProblemFilter } from '../http/responses/problem';
import { ApiDocument } from '../openapi/api-document';
import { TokensModule } from '../tokens/tokens.module';
import { WorkerWindowsModule } from './worker-windows.module';

const [WORKER, ADMIN] = ['worker-token-0123456789', 'admin-token-0123456789'];
const ENV = { LEAF_WORKER_TOKENS: WORKER, LEAF_ADMIN_TOKEN: ADMIN };
const OPTIONS: LeafOptions = { database: 'sqlite::memory:', snowflake: {} };
const [LEASE, OTHER] = ['0123456789abcdef'.repeat(2), 'fedcba9876543210'.repeat(2)];
const HOUR = 3_600_000;

interface Window {
  readonly workerId: number;
  readonly from: number;
  readonly until: number;
}

let app: NestFastifyApplication;
let document: ApiDescription;
let contract: ApiContract;
let leaf: Leaf;
const clock = new FakeClock();

async function start(env: NodeJS.ProcessEnv = ENV, options = OPTIONS): Promise<void> {
  Logger.overrideLogger(false);
  leaf = await Leaf.start(options);
  const parts = [
    { provide: Clock, useValue: clock },
    { provide: Leaf, useValue: leaf },
    { provide: ApiDocument, useClass: ApiDocument },
  ];
  const module = await nestModules(env, [TokensModule, WorkerWindowsModule], parts);
  app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter());
  app.useGlobalFilters(new ProblemFilter());
  app.getHttpAdapter().getInstance().decorate('lastFailure', new LastFailure(clock));
  app.get(ApiDocument).describe(app);
  await app.init();
  document = JSON.parse(JSON.stringify(await app.get(ApiDocument).get())) as ApiDescription;
  contract = new ApiContract(document);
}

async function stop(): Promise<void> {
  await app.close();
  await leaf.stop();
}

const OPERATIONS = { GET: 'listWorkers', POST: 'acquireWorker', PUT: 'extendWorker', DELETE: 'releaseWorker' };
type Method = keyof typeof OPERATIONS;
const routeOf = (method: Method): ApiRoute => contract.route(OPERATIONS[method]);
type Answer = readonly [status: number, code: unknown, body: Readonly<Record<string, unknown>>];

/** The answer, which is as the document of the API says. */
async function ask(method: Method, path = '', body?: object, token = WORKER): Promise<Answer> {
  const headers = token === '' ? {} : { authorization: `Bearer ${token}` };
  const request = { method, url: `/api/workers${path}`, headers, ...(body !== undefined && { payload: body }) };
  const { statusCode: status, payload, headers: given } = await app.inject(request);
  const fault = contract.faultOf(routeOf(method), { status, headers: given as IncomingHttpHeaders, body: payload });
  expect(fault).toBeUndefined();
  const answer = (payload === '' ? {} : JSON.parse(payload)) as Record<string, unknown>;
  return [status, answer.code, answer];
}

const acquire = async (lease: string, more: object = {}): Promise<Window & { status: number }> => {
  const [status, , window] = await ask('POST', '', { lease, holder: 'billing', ...more });
  return { status, ...(window as unknown as Window) };
};

describe('The routes of worker windows', () => {
  beforeAll(() => start());
  afterAll(stop);
  afterEach(async () => {
    for (const lease of [LEASE, OTHER]) await ask('DELETE', `/${lease}`);
  });

  it('admit worker tokens, and admin tokens only to read', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['PUT', `/${LEASE}`],
      ['DELETE', `/${LEASE}`],
    ] as const) {
      clock.pause(60_000);
      for (const token of ['', 'wrong-token-0123456789']) {
        expect([method, (await ask(method, path, {}, token)).slice(0, 2)]).toEqual([
          method,
          [401, 'LEAF_UNAUTHORIZED'],
        ]);
      }
      const [status] = await ask(method, path, undefined, ADMIN);
      expect([method, status]).toEqual([method, method === 'GET' ? 200 : 401]);
    }
    expect((await ask('GET'))[0]).toBe(200);
  });

  it('let a client without a token wait after ten requests', async () => {
    clock.pause(60_000);
    for (let n = 0; n < 10; n++) expect((await ask('GET', '', undefined, ''))[0]).toBe(401);
    expect((await ask('GET', '', undefined, '')).slice(0, 2)).toEqual([429, 'LEAF_TOO_MANY_FAILURES']);
    expect((await ask('GET'))[0]).toBe(200);
  });

  it('give a window, the same one to the same lease, and its layout', async () => {
    const [status, , window] = await ask('POST', '', { lease: LEASE, holder: 'billing', windowMs: HOUR });
    expect([status, window]).toEqual([
      201,
      {
        ...{ lease: LEASE, workerId: expect.any(Number), from: expect.any(Number), until: expect.any(Number) },
        now: clock.now(),
        layout: { epoch: 1_288_834_974_657, timeBits: 41, workerBits: 10, sequenceBits: 12 },
      },
    ]);
    const again = await acquire(LEASE.toUpperCase());
    expect(again).toEqual({ ...window, status: 200, until: expect.any(Number) });
  });

  it('give a window of a minute unless the caller wants another one', async () => {
    const before = Date.now();
    const { until } = await acquire(LEASE);
    expect(until).toBeGreaterThanOrEqual(before + 60_000);
    const [, , extended] = await ask('PUT', `/${LEASE}`);
    expect(extended.until).toBeLessThan(before + 10 * 60_000);
    const [, , longer] = await ask('PUT', `/${LEASE}`, { windowMs: HOUR });
    expect(longer.until).toBeGreaterThanOrEqual(before + HOUR);
  });

  it('extend the window that the lease has of this worker ID, and of no other', async () => {
    const { workerId } = await acquire(LEASE);
    expect(await ask('PUT', `/${LEASE.toUpperCase()}`, { workerId })).toMatchObject([200, undefined, { workerId }]);
    const [status, code] = await ask('PUT', `/${LEASE}`, { workerId: workerId + 1 });
    expect([status, code]).toEqual([404, 'LEAF_LEASE_NOT_FOUND']);
  });

  it('refuse a copy of the caller that does not know the newest end', async () => {
    const { until: known } = await acquire(LEASE);
    const mark = (known + 1) % 1000;
    const [, , marked] = await ask('PUT', `/${LEASE}`, { windowMs: HOUR, known, mark });
    expect((marked.until as number) % 1000).toBe(mark);
    for (const body of [{ known, mark: (known + 2) % 1000 }, { known }]) {
      expect((await ask('PUT', `/${LEASE}`, body)).slice(0, 2)).toEqual([409, 'LEAF_LEASE_LOST']);
    }
  });

  it('keep the worker ID of two processes with one lease to the end of the window', async () => {
    const next = async (known: number): Promise<number> => {
      await ask('DELETE', `/${LEASE}`, { lastTimestamp: 0, known });
      return (await acquire(OTHER)).workerId;
    };
    const own = await acquire(LEASE);
    expect(await next(own.until)).toBe(own.workerId);
    await ask('DELETE', `/${OTHER}`, { lastTimestamp: 0 });
    const { workerId, until: known } = await acquire(LEASE);
    await ask('PUT', `/${LEASE}`, { windowMs: HOUR, known, mark: (known + 1) % 1000 });
    expect(await next(known)).not.toBe(workerId);
  });

  it('release a window with the newest timestamp, which is not after its end', async () => {
    const { until, from } = await acquire(LEASE);
    const [status, code] = await ask('DELETE', `/${LEASE}`, { lastTimestamp: until + 1 });
    expect([status, code]).toEqual([400, 'LEAF_BODY_INVALID']);
    expect(await ask('DELETE', `/${LEASE.toUpperCase()}`, { lastTimestamp: from })).toEqual([204, undefined, {}]);
    expect((await ask('PUT', `/${LEASE}`))[0]).toBe(404);
    expect((await ask('DELETE', `/${LEASE}`))[0]).toBe(204);
  });

  it('list the windows by worker ID, without their leases', async () => {
    const windows = [await acquire(LEASE), await acquire(OTHER, { holder: 'shop' })];
    const [, , { workers }] = await ask('GET');
    const expected = windows.map(({ workerId, from, until }, index) => {
      return { workerId, holder: ['billing', 'shop'][index], from, until };
    });
    expect(workers).toEqual(expected.sort((a, b) => a.workerId - b.workerId));
  });

  it.each(['abc', `${LEASE}0`, `0${LEASE}`, LEASE.replace('a', 'g')])('know no lease %s', async (lease) => {
    for (const method of ['PUT', 'DELETE'] as const) {
      expect((await ask(method, `/${lease}`, {})).slice(0, 2)).toEqual([404, 'LEAF_LEASE_NOT_FOUND']);
    }
  });

  const POST = { lease: LEASE, holder: 'a' };
  it.each<['POST' | 'PUT' | 'DELETE', object, string | undefined]>([
    ['POST', {}, 'lease must be 32 hexadecimal digits'],
    ['POST', { ...POST, lease: `${LEASE}0` }, 'lease must be 32'],
    ['POST', { ...POST, lease: `0${LEASE}` }, 'lease must be 32'],
    ['POST', { lease: LEASE }, 'holder must be 1 to 127'],
    ['POST', { ...POST, holder: '' }, 'holder must be 1 to 127'],
    ['POST', { ...POST, holder: 'x'.repeat(128) }, 'holder must be 1 to 127'],
    ['POST', { ...POST, holder: 'x'.repeat(127) }, undefined],
    ['POST', { ...POST, windowMs: 9999 }, 'windowMs must be a whole number from 10000 to 86400000'],
    ['POST', { ...POST, windowMs: 10_000 }, undefined],
    ['POST', { ...POST, windowMs: 86_400_001 }, 'windowMs must be'],
    ['POST', { ...POST, windowMs: 86_400_000 }, undefined],
    ['POST', { ...POST, windowMs: 10_000.5 }, 'windowMs must be'],
    ['PUT', { windowMs: 9999 }, 'windowMs must be'],
    ['PUT', { workerId: -1 }, 'workerId must be a whole number of 0 or more'],
    ['PUT', { workerId: 0.5 }, 'workerId must be'],
    ['PUT', { workerId: null }, 'workerId must be'],
    ['PUT', { known: -1 }, 'known must be a whole number of 0 or more'],
    ['PUT', { known: '1' }, 'known must be'],
    ['PUT', { known: 1, mark: -1 }, 'mark must be a whole number from 0 to 999'],
    ['PUT', { known: 1, mark: 1000 }, 'mark must be'],
    ['DELETE', { lastTimestamp: -1 }, 'lastTimestamp must be a whole number of 0 or more'],
    ['DELETE', { lastTimestamp: '1' }, 'lastTimestamp must be'],
    ['DELETE', { lastTimestamp: 0 }, undefined],
    ['DELETE', { known: 0, mark: 0 }, undefined],
    ['DELETE', { known: 0, mark: 999 }, undefined],
    ['DELETE', { workerId: 1 }, '\\"workerId\\" is an unknown property'],
  ])('check the body of %s %j', async (method, body, fault) => {
    const [status, code, { detail }] = await ask(method, method === 'POST' ? '' : `/${OTHER}`, body);
    const { schema = {} } = routeOf(method).operation.requestBody?.content['application/json'] ?? {};
    expect(contract.mismatch(schema, body) === undefined).toBe(fault === undefined);
    if (fault === undefined) expect(status).toBeLessThan(300);
    else
      expect([status, code, detail]).toEqual([
        400,
        'LEAF_BODY_INVALID',
        expect.stringContaining(fault.replaceAll('\\', '')),
      ]);
  });

  it('are in the document of the API', () => {
    expect(faultsOfDocument(document)).toStrictEqual([]);
    for (const method of ['POST', 'PUT', 'DELETE'] as const) {
      const { security, responses, parameters = [] } = routeOf(method).operation;
      expect(security).toEqual([{ bearer: [] }]);
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '401', '403', '429', '503']));
      expect(parameters.map(({ name }) => name)).toEqual(method === 'POST' ? [] : ['lease']);
    }
  });
});

describe('Worker windows are disabled', () => {
  afterEach(stop);
  const answer = async (): Promise<unknown[]> => {
    const [status, code, { detail }] = await ask('POST', '', { lease: LEASE, holder: 'a' });
    return [status, code, String(detail).replace(/^.*: /, '')];
  };

  it('without tokens', async () => {
    await start({ LEAF_ADMIN_TOKEN: ADMIN });
    const reason = 'LEAF_WORKER_TOKENS is not set. Set it to give worker IDs to other processes.';
    expect(await answer()).toEqual([403, 'LEAF_WINDOWS_DISABLED', reason]);
  });

  it('without snowflake mode', async () => {
    await start(ENV, { database: 'sqlite::memory:' });
    const reason = 'snowflake mode is off. Set LEAF_SNOWFLAKE_ENABLED=true.';
    expect(await answer()).toEqual([403, 'LEAF_WINDOWS_DISABLED', reason]);
  });

  it('with a registry that is not a pool', async () => {
    await start(ENV, { ...OPTIONS, snowflake: { registry: 'mysql' } });
    const [status, code, reason] = await answer();
    expect([status, code]).toEqual([403, 'LEAF_WINDOWS_DISABLED']);
    expect(reason).toMatch(/Set LEAF_SNOWFLAKE_REGISTRY to one of database, zk_recycle, etcd, kubernetes on all/);
  });
});

it('Worker tokens are those of the newest content of their file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-worker-tokens-'));
  try {
    const file = join(directory, 'tokens');
    await writeFile(file, WORKER);
    await start({ LEAF_ADMIN_TOKEN: ADMIN, LEAF_WORKER_TOKENS_FILE: file });
    expect((await ask('GET'))[0]).toBe(200);
    await writeFile(file, 'billing:other-token-0123456789');
    await clock.advance(5000);
    expect((await ask('GET'))[0]).toBe(401);
    expect((await ask('GET', '', undefined, 'other-token-0123456789'))[0]).toBe(200);
  } finally {
    await stop();
    await rm(directory, { recursive: true });
  }
});
