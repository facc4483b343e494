import { Agent, createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { overHttp, Record } from './callers';
import { check } from './checker';

/** What is recorded of two calls for ranges that are answered with `status` and `body`. */
async function recordOf(status: number, body: object): Promise<Record> {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  const record = new Record();
  for (const caller of ['one', 'two']) {
    await record.note(caller, () => overHttp(agent, port, 'range/order?size=20'));
  }
  agent.destroy();
  server.closeAllConnections();
  server.close();
  return record;
}

it('hands every answer to the checker, also one whose IDs do not follow on each other', async () => {
  const ranges = [
    { from: '7', to: '7' },
    { from: '7', to: '20' },
  ];
  const { operations, faults, refusals } = await recordOf(200, { tag: 'order', order: 'strict', ranges });
  expect({ faults, refusals: refusals.size }).toEqual({ faults: [], refusals: 0 });
  const { disordered, duplicates, violations } = check(operations);
  expect([disordered.length, duplicates, violations.length]).toEqual([2, 16, 1]);
});

it.each([
  ['an answer without an ID', 200, { ranges: [] }],
  ['an error without a code', 500, { message: 'broken' }],
])('records %s as a fault', async (_, status, body) => {
  const { operations, faults, refusals } = await recordOf(status, body);
  expect([operations.length, faults.length, refusals.size]).toEqual([0, 2, 0]);
});

it('records an error with a code as a refusal', async () => {
  const { faults, refusals } = await recordOf(503, { code: 'LEAF_NOT_READY' });
  expect([faults.length, refusals.get('LEAF_NOT_READY')]).toEqual([0, 2]);
});
