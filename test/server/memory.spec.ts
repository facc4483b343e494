import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { heapInUse } from '../support/heap';
import { admin, ADMIN_TOKEN } from '../support/http/admin';
import { startTestServer, type TestServer } from '../support/servers/server';

const TAG = 'leaf-segment-test';
const STRICT = 'strict';
const BILLING = 'billing-token-0123456789';
const LIMITED = 'limited-token-0123456789';
/** Tags that the server remembers as unknown; with so many, each further one replaces another. */
const UNKNOWN_TAGS_KEPT = 10_000;
/** Bytes of used heap that a request may leave behind. Once the code is compiled, a block without a leak moved the heap by 200 KB at most. */
const MAX_GROWTH = 50;
/** A leak grows in each block of requests; compiled code or a table that grows, in some of them. */
const BLOCKS = 10;
const PIPELINED = 100;

interface Kind {
  readonly what: string;
  readonly requests: number;
  /** The bytes of one request. */
  readonly bytes: (n: number) => string;
  /** What each response contains once. */
  readonly answer: string;
  readonly isResp?: boolean;
  /** Requests on each connection; default: all of a block. */
  readonly pipelined?: number;
}

let server: TestServer;
/** Over all kinds, so that no name of an unknown tag comes twice. */
let sent = 0;

beforeAll(async () => {
  server = await startTestServer({
    LEAF_RESP_PORT: '0',
    LEAF_ADMIN_TOKEN: ADMIN_TOKEN,
    LEAF_CLIENT_TOKENS: `billing:${BILLING},limited:${LIMITED}`,
    LEAF_CLIENT_QUOTAS: '{"limited":{"idsPerSecond":1}}',
  });
  const settings = { tag: STRICT, step: 100_000, order: 'strict' };
  expect((await admin(server.port, 'POST', '/api/tags', settings)).status).toBe(201);
  // The code of all kinds is compiled, and compiled again for all of them.
  for (const kind of KINDS) await run(kind);
});
afterAll(() => server.stop());

function get(path: string, token = BILLING): string {
  return `GET ${path} HTTP/1.1\r\nHost: leaf\r\nAuthorization: Bearer ${token}\r\n\r\n`;
}

const OK = 'HTTP/1.1 200 ';
const INCR_UNKNOWN: Kind = {
  what: 'INCR of an unknown tag',
  requests: 4000,
  bytes: (n) => `INCR unknown-${n}\r\n`,
  answer: '-LEAF_TAG_NOT_FOUND',
  isResp: true,
};
const KINDS: readonly Kind[] = [
  { what: 'an ID of a tag', requests: 4000, bytes: () => get(`/api/segment/get/${TAG}`), answer: OK },
  { what: 'a snowflake ID', requests: 4000, bytes: () => get('/api/snowflake/get/order'), answer: OK },
  { what: 'an ID of a strict tag', requests: 4000, bytes: () => get(`/api/segment/get/${STRICT}`), answer: OK },
  { what: 'a small batch', requests: 4000, bytes: () => get(`/api/segment/batch/${TAG}?size=100`), answer: OK },
  { what: 'a large batch', requests: 2000, bytes: () => get(`/api/segment/batch/${TAG}?size=1000`), answer: OK },
  {
    what: 'an ID on a connection of its own',
    requests: 2000,
    bytes: () => get(`/api/segment/get/${TAG}`),
    answer: OK,
    pipelined: 1,
  },
  {
    what: 'a size that is refused',
    requests: 4000,
    bytes: () => get(`/api/segment/batch/${TAG}?size=0`),
    answer: 'HTTP/1.1 400 ',
  },
  {
    what: 'a token that is refused',
    requests: 4000,
    bytes: (n) => get(`/api/segment/get/${TAG}`, `wrong-token-${n}`),
    answer: 'HTTP/1.1 4',
  },
  {
    what: 'a call beyond the quota',
    requests: 4000,
    bytes: () => get(`/api/segment/range/${TAG}?size=100`, LIMITED),
    answer: 'HTTP/1.1 429 ',
  },
  {
    what: 'a path that does not exist',
    requests: 4000,
    bytes: (n) => get(`/api/none/${n}`),
    answer: 'HTTP/1.1 404 ',
  },
  {
    what: 'an unknown tag',
    requests: 4000,
    bytes: (n) => get(`/api/segment/get/unknown-${n}`),
    answer: 'HTTP/1.1 404 ',
  },
  { what: 'INCR', requests: 8000, bytes: () => `INCR ${TAG}\r\n`, answer: '\r\n:', isResp: true },
  { what: 'INCR of a strict tag', requests: 4000, bytes: () => `INCR ${STRICT}\r\n`, answer: '\r\n:', isResp: true },
  INCR_UNKNOWN,
  { what: 'an unknown command', requests: 4000, bytes: (n) => `GET ${n}\r\n`, answer: '-ERR', isResp: true },
  {
    what: 'INCR on a connection of its own',
    requests: 2000,
    bytes: () => `INCR ${TAG}\r\n`,
    answer: '\r\n:',
    isResp: true,
    pipelined: 1,
  },
];

it.each(KINDS)('$what leaves nothing behind', async (kind) => {
  if (kind.bytes(0).includes('unknown-')) await run({ ...INCR_UNKNOWN, requests: UNKNOWN_TAGS_KEPT });
  await run(kind);
  let growth = Infinity;
  for (let block = 0; block < BLOCKS && growth > MAX_GROWTH; block++) {
    const before = heapInUse();
    await run(kind);
    growth = (heapInUse() - before) / kind.requests;
  }
  expect(growth).toBeLessThanOrEqual(MAX_GROWTH);
});

/** Sends the requests on one connection after the other. */
async function run({ requests, bytes, answer, isResp = false, pipelined = requests }: Kind): Promise<void> {
  for (let begun = 0; begun < requests; begun += pipelined) {
    const socket = connect(isResp ? server.server.respPort! : server.port, '127.0.0.1');
    try {
      if (isResp) await exchange(socket, `AUTH ${BILLING}\r\n`, '+OK', 1);
      for (let rest = pipelined; rest > 0; rest -= PIPELINED) {
        const count = Math.min(rest, PIPELINED);
        await exchange(socket, Array.from({ length: count }, () => bytes(sent++)).join(''), answer, count);
      }
    } finally {
      socket.destroy();
    }
    await once(socket, 'close');
  }
}

/** Resolves when `answer` has come `count` times. */
async function exchange(socket: Socket, request: string, answer: string, count: number): Promise<void> {
  let received = '\r\n';
  const onData = (part: string): void => void (received += part);
  socket.setEncoding('latin1').on('data', onData);
  socket.write(request);
  while (received.split(answer).length <= count) await once(socket, 'data');
  socket.off('data', onData);
}
