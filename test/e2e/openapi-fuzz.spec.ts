import fc from 'fast-check';
import type { IdRange } from '@leaf-ids/core';
import { admin, ADMIN_TOKEN } from '../support/http/admin';
import { call, text } from '../support/http/http';
import { givenTwice, runsOf } from '../support/issued-ids';
import { ApiContract, fetchApi } from '../support/openapi/contract';
import { FUZZED_SERVER, FuzzClient } from '../support/openapi/fuzz-client';
import { examplesOf, fuzzedRequest } from '../support/openapi/requests';
import { drawn } from '../support/seeds';
import { CLUSTER_TOKEN } from '../support/servers/cluster-rig';
import { startTestServer, type TestServer } from '../support/servers/server';

/** More of them search longer: LEAF_TEST_FUZZ_RUNS=50000. */
const RUNS = Number(process.env.LEAF_TEST_FUZZ_RUNS ?? 3000);

interface Ids {
  readonly period?: string;
  readonly ids?: readonly string[];
  readonly ranges?: readonly { readonly from: string; readonly to: string }[];
}

let server: TestServer;
let contract: ApiContract;

beforeAll(async () => {
  const [host, port] = FUZZED_SERVER.split(':');
  server = await startTestServer({
    ...{ LEAF_ADMIN_TOKEN: ADMIN_TOKEN, LEAF_CLUSTER_TOKEN: CLUSTER_TOKEN },
    ...{ LEAF_ADVERTISE_HOST: host, LEAF_ADVERTISE_PORT: port },
  });
  contract = new ApiContract(await fetchApi(server.port));
  const [first = '', ...others] = examplesOf(contract).get('tag')?.reverse() ?? [];
  await ensureTag(first, { reset: 'daily' });
  for (const tag of others) await ensureTag(tag);
});

afterAll(() => server.stop());

async function ensureTag(tag: string, settings = {}): Promise<void> {
  const { status } = await admin(server.port, 'POST', '/api/tags', { tag, step: 1000, ...settings });
  expect([201, 409]).toContain(status);
}

/** The IDs of an answer, with the sequence of numbers that they belong to. */
function idsOf(operationId: string, tag: string, body: string): [string, IdRange[]] {
  const {
    period = '',
    ids = [],
    ranges = [],
  } = operationId.endsWith('Id') ? { ids: [body] } : (JSON.parse(body) as Ids);
  const given = [...runsOf(ids.map(BigInt)), ...ranges.map(({ from, to }) => ({ from: BigInt(from), to: BigInt(to) }))];
  return [operationId.includes('Snowflake') ? 'snowflake' : `segment ${tag} ${period}`, given];
}

const GIVES_IDS = /^take((Segment|Snowflake)(Id|Ids|Ranges)|PeriodNumbers)$/;

it(
  'any response to any request is documented, and no ID is issued twice',
  async () => {
    const client = new FuzzClient(server.port, contract);
    const issued = new Map<string, IdRange[]>();
    const book = (operationId: string, tag: string, body: string): void => {
      const [sequence, ranges] = idsOf(operationId, tag, body);
      issued.set(sequence, [...(issued.get(sequence) ?? []), ...ranges]);
    };
    try {
      await fc.assert(
        fc.asyncProperty(fuzzedRequest(contract), async (request) => {
          const answer = await client.send(request);
          const { operationId, parameters } = request;
          const tag = String(parameters.tag);
          // Requests seldom create a tag; without tags there would be no IDs to compare.
          if (operationId === 'deleteTag' && answer?.status === 204) await ensureTag(tag);
          if (answer?.status !== 200 || request.method !== 'GET' || !GIVES_IDS.test(operationId)) return;
          book(operationId, tag, answer.body);
        }),
        drawn(RUNS),
      );
    } finally {
      client.close();
      if (process.env.LEAF_TEST_FUZZ_RUNS !== undefined)
        console.log(
          [...client.seen]
            .sort()
            .map(([what, times]) => `${what}: ${times}`)
            .join('\n'),
        );
    }

    const { status } = await admin(server.port, 'DELETE', '/api/server/drain');
    expect(status).toBe(200);
    await ensureTag('afterwards');
    for (const [operationId, path] of [
      ['takeSegmentId', '/api/segment/get/afterwards'],
      ['takeSegmentIds', '/api/segment/batch/afterwards?size=100'],
      ['takeSnowflakeId', '/api/snowflake/get/afterwards'],
      ['takeSnowflakeIds', '/api/snowflake/batch/afterwards?size=100'],
    ] as const) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => call(server.port, path)));
      for (const { status, body } of answers) {
        expect(status).toBe(200);
        book(operationId, 'afterwards', body);
      }
    }
    expect(await text(server.port, '/health/ready')).toContain('up');
    expect(issued.size).toBeGreaterThan(2);
    for (const [sequence, ranges] of issued) expect([sequence, givenTwice(ranges)]).toEqual([sequence, []]);
  },
  Math.max(180_000, RUNS * 30),
);
