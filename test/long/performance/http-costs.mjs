// Serves, in one process, the built server and beside it the same answer from raw node:http; tells the ports, and
// whenever it is asked how much processor time it has used, in microseconds.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
const built = (file) => require(join(import.meta.dirname, '../../../dist/apps/leaf-server/src', file));
require('reflect-metadata');
const { loadConfig } = built('config/leaf-config.js');
const { startServer } = built('server.js');

const ID = '1169786042799259000';
const HEADERS = ['content-type', 'text/plain', 'content-length', String(ID.length)];

const raw = createServer((_request, response) => {
  response.writeHead(200, HEADERS);
  response.end(ID);
}).listen(0, '127.0.0.1');
const leaf = await startServer(loadConfig(process.env));
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send(user + system);
});
process.on('disconnect', () => process.exit());
process.send({ raw: raw.address().port, leaf: leaf.port });
