import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ROOT, SERVER_FILE } from '../support/build';
import { text } from '../support/http/http';
import { BuiltServers } from '../support/servers/built-server';
import { ready } from '../support/servers/readiness';
import { requireTool } from '../support/tools';

const SCRIPT = join(ROOT, 'test/support/servers/restrict-families.py');
const unit = readFileSync(join(ROOT, 'deploy/systemd/leaf.service'), 'utf8');
const families = /^RestrictAddressFamilies=(.*)$/m.exec(unit)![1]!.split(' ');

let servers: BuiltServers;
beforeAll(async () => {
  await ensureBuilt();
  servers = new BuiltServers([await requireTool('python3'), SCRIPT, ...families, '--', process.execPath, SERVER_FILE]);
});
afterEach(() => servers.end());

it.each(['1', '2'])('serves within the address families of the unit, with LEAF_PROCESSES=%s', async (processes) => {
  const { port } = await servers.start(await servers.makeDirectory(), { LEAF_PROCESSES: processes });
  await ready(port);
  expect(await text(port, '/api/segment/get/leaf-segment-test')).toMatch(/^\d+$/);
  expect(await text(port, '/api/snowflake/get/order')).toMatch(/^\d+$/);
});
