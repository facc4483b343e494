import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SystemClock } from '../clock/clock';
import { HttpEndpoint } from './http-endpoint';

let server: Server;
let listener: RequestListener;
let endpoint: HttpEndpoint;

beforeEach(async () => {
  server = createServer((request, response) => listener(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`);
  endpoint = new HttpEndpoint(url, { maxBytes: 10, keepAliveMs: 1000 }, new SystemClock());
});
afterEach(async () => {
  endpoint.close();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

describe('an HTTP endpoint', () => {
  it('sends a request below its path, and returns any status', async () => {
    listener = ({ method, url, headers }, response) => {
      response.writeHead(409, { 'x-seen': `${method} ${url} ${headers['content-length']}` }).end('text');
    };
    const reply = await endpoint.request({ method: 'PUT', path: '/x?y=1', headers: { a: 'b' }, body: 'é' }, 10_000);
    expect(reply).toMatchObject({ status: 409, headers: { 'x-seen': 'PUT /base/x?y=1 2' }, text: 'text' });
  });

  it.each<[string, RequestListener, RegExp]>([
    ['that is too long', (_, response) => response.end('12345678901'), /exceeds 10 bytes/],
    ['that ends early', (_, response) => response.write('1', () => response.destroy()), /aborted|closed within/],
    ['that does not come', () => undefined, /timed out after 200 ms/],
  ])('rejects a response %s', async (_, answer, message) => {
    listener = answer;
    await expect(endpoint.request({ path: '/' }, 200)).rejects.toThrow(message);
  });

  it('sends nothing after it was closed', async () => {
    endpoint.close();
    await expect(endpoint.request({ path: '/' }, 200)).rejects.toThrow('the client is closed');
  });
});
