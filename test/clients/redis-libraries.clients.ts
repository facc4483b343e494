import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, ROOT } from '../support/build';
import { command } from '../support/packages';
import { takeThroughCrash } from '../support/servers/take-through-crash';
import { requireTool } from '../support/tools';

/** Their first run on a machine fetches the libraries from the registries. */
const BUILD_MS = 300_000;

let folder: string;

beforeAll(async () => {
  await ensureBuilt();
  folder = await mkdtemp(join(tmpdir(), 'leaf-redis-libraries-'));
  await cp(join(ROOT, 'test/clients'), folder, { recursive: true });
  await command(await requireTool('go'), ['build', '-o', 'take-ids', '.'], join(folder, 'go-redis'));
  await command(await requireTool('mvn'), ['-q', '-B', 'compile'], join(folder, 'java'));
}, BUILD_MS);
afterAll(() => rm(folder, { recursive: true }));

it('go-redis takes IDs through a crash of the server, each once', () =>
  takeThroughCrash([join(folder, 'go-redis/take-ids')], folder));

it.each(['Jedis', 'Lettuce'])('%s takes IDs through a crash of the server, each once', async (library) => {
  const words = ['-cp', 'target/classes:target/dependency/*', library];
  await takeThroughCrash([await requireTool('java'), ...words], join(folder, 'java'));
});
