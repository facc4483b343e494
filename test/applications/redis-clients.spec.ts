import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, ROOT } from '../support/build';
import { freePort } from '../support/free-port';
import { install, outsideEnvironment, writeJson } from '../support/packages';
import { BuiltServers } from '../support/servers/built-server';
import { until } from '../support/until';

const TAG = 'leaf-segment-test';
const COUNT = 100_000;

const servers = new BuiltServers();
let folder: string;

beforeAll(async () => {
  await ensureBuilt();
  folder = await mkdtemp(join(tmpdir(), 'leaf-redis-clients-'));
  await cp(join(ROOT, 'test/clients'), folder, { recursive: true });
  await writeJson(join(folder, 'package.json'), { private: true, dependencies: { ioredis: '^5', redis: '^5' } });
  await install(folder, []);
});
afterEach(() => servers.end());
afterAll(() => rm(folder, { recursive: true }));

it.each(['ioredis', 'node-redis'])('%s takes IDs through a crash of the server, each once', async (library) => {
  const directory = await servers.makeDirectory();
  const env = { LEAF_RESP_PORT: String(await freePort()) };
  const first = await servers.start(directory, env);
  const words = [`${library}.cjs`, env.LEAF_RESP_PORT, TAG, String(COUNT)];
  const client = spawn(process.execPath, words, { cwd: folder, env: outsideEnvironment() });
  let [ids, errors] = ['', ''];
  client.stdout.setEncoding('latin1').on('data', (text: string) => (ids += text));
  client.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = once(client, 'close');
  await until('half of the IDs', () => errors.includes('half\n') || client.exitCode !== null);
  await first.kill();
  await servers.start(directory, env);
  const [code] = (await ended) as [number];
  expect([code, errors.replaceAll('half\n', '')]).toEqual([0, '']);
  const taken = ids.trim().split('\n');
  expect(taken).toHaveLength(COUNT);
  expect(new Set(taken).size).toBe(COUNT);
});
