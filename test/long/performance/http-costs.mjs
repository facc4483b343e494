// Serves, in one process, the built server, and the same responses from raw node:http and node:net. Sends the ports, and
// for each message the CPU time that it has used, in microseconds.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
const built = (file) => require(join(import.meta.dirname, '../../../dist/apps/leaf-server/src', file));
require('reflect-metadata');
const { loadConfig } = built('config/leaf-config.js');
const { startServer } = built('server.js');

const ID = '1169786042799259000';
const HEADERS = ['content-type', 'text/plain', 'content-length', String(ID.length)];

/** What a server does at least for such a response. */
const BODIES = {
  '/range': ({ size, from }) =>
    JSON.stringify({ tag: 'order', ranges: [{ from: `${from}`, to: `${from + size - 1n}` }] }),
  '/batch': ({ size, from }) =>
    JSON.stringify(Array.from({ length: Number(size) }, (_, index) => `${from + BigInt(index)}`)),
};
let next = BigInt(ID);
const raw = createServer(({ url }, response) => {
  const [path, query] = url.split('?');
  const bodyOf = BODIES[path];
  if (bodyOf === undefined) {
    response.writeHead(200, HEADERS);
    response.end(ID);
    return;
  }
  const size = BigInt(new URLSearchParams(query).get('size'));
  const body = bodyOf({ size, from: next });
  next += size;
  response.writeHead(200, ['content-type', 'application/json', 'content-length', String(body.length)]);
  response.end(body);
}).listen(0, '127.0.0.1');
const rawResp = createTcpServer({ noDelay: true }, (socket) => {
  socket.on('data', () => socket.write(`:${ID}\r\n`, 'latin1'));
  socket.on('error', () => socket.destroy());
}).listen(0, '127.0.0.1');
const leaf = await startServer(loadConfig(process.env));
await Promise.all([raw, rawResp].map((server) => server.listening || once(server, 'listening')));
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send(user + system);
});
process.on('disconnect', () => process.exit());
process.send({
  raw: raw.address().port,
  rawResp: rawResp.address().port,
  leaf: leaf.port,
  leafResp: leaf.respPort,
});
