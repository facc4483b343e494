import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, ROOT } from '../support/build';
import { install, writeJson } from '../support/packages';
import { takeThroughCrash } from '../support/servers/take-through-crash';

let folder: string;

beforeAll(async () => {
  await ensureBuilt();
  folder = await mkdtemp(join(tmpdir(), 'leaf-redis-clients-'));
  await cp(join(ROOT, 'test/clients'), folder, { recursive: true });
  await writeJson(join(folder, 'package.json'), { private: true, dependencies: { ioredis: '^5', redis: '^5' } });
  await install(folder, []);
});
afterAll(() => rm(folder, { recursive: true }));

it.each(['ioredis', 'node-redis'])('%s takes IDs through a crash of the server, each once', async (library) => {
  await takeThroughCrash([process.execPath, `${library}.cjs`], folder);
});
