import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { ResponseHead } from './response-head';

const BODY = '1169786042799259000';
const HEADERS = ['content-type', 'text/plain', 'content-length', String(BODY.length)];

describe('ResponseHead', () => {
  let server: Server;
  let now: number;
  /** Number of headers that Node.js has made. */
  let made: number;

  beforeEach(async () => {
    now = 1_700_000_000_000;
    made = 0;
    class CountedResponse extends ServerResponse {
      override writeHead(...args: unknown[]): this {
        made++;
        return super.writeHead(...(args as [number, string[]]));
      }
    }
    const head = new ResponseHead(HEADERS);
    server = createServer({ ServerResponse: CountedResponse }, (request: IncomingMessage, response) => {
      if (request.url === '/plain') response.writeHead(200, HEADERS).end(BODY);
      else head.send(response, BODY, now);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(() => new Promise((resolve) => server.close(resolve)));

  /** Everything that comes back on one connection, without the time. */
  async function answers(...requests: readonly string[]): Promise<string> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.end(requests.join(''));
    return (await text(socket)).replace(/Date: [^\r]*/g, 'Date: …');
  }

  const KEPT = ' HTTP/1.1\r\nHost: leaf\r\n\r\n';
  const ENDS = ' HTTP/1.1\r\nHost: leaf\r\nConnection: close\r\n\r\n';
  const OLD = ' HTTP/1.0\r\n\r\n';
  const OLD_KEPT = ' HTTP/1.0\r\nConnection: keep-alive\r\n\r\n';

  it.each([
    ['one request', [KEPT]],
    ['pipelined requests', [KEPT, KEPT, KEPT]],
    ['a request that ends its connection', [KEPT, KEPT, ENDS]],
    ['HTTP/1.0', [OLD]],
    ['HTTP/1.0 with keep-alive', [OLD_KEPT, KEPT, OLD]],
  ])('sends the same bytes as Node.js: %s', async (_, requests) => {
    const plain = await answers(...requests.map((request) => `GET /plain${request}`));
    expect(plain.split(BODY)).toHaveLength(requests.length + 1);
    for (let time = 1; time <= 3; time++) {
      expect(await answers(...requests.map((request) => `GET /${request}`))).toBe(plain);
    }
  });

  it('lets Node.js make the headers once a second, because of the date in them', async () => {
    const twice = [`GET /${KEPT}`, `GET /${KEPT}`];
    await answers(...twice);
    await answers(...twice);
    expect(made).toBe(1);
    now += 1000;
    await answers(...twice);
    expect(made).toBe(2);
    now -= 5000;
    await answers(...twice);
    expect(made).toBe(3);
  });
});
