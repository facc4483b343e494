import { chown, cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ensureBuilt, ROOT, SERVER_FILE } from '../support/build';
import { all, readStages } from '../support/deploy/dockerfile';
import { call, json, text } from '../support/http/http';
import { BuiltServers } from '../support/servers/built-server';
import { isRoot } from '../support/servers/private-server';
import { ready } from '../support/servers/readiness';
import { run } from '../support/servers/services';
import { requireTool } from '../support/tools';

const stages = readStages();
const [user = ''] = all('USER', stages.at(-1)!);
/** What the container engine adds; then the root is read-only. */
const ENTER = `mount --bind "$1" "$1" &&
  mount --bind "$2" "$1/data" && mount --rbind /dev "$1/dev" && mount --rbind /proc "$1/proc" &&
  mount -o remount,ro,bind "$1" && identity="$3" && root="$1" && shift 3 &&
  exec setpriv --no-new-privs chroot $identity "$root" /usr/local/bin/node "$@"`;

let directory: string;
let root: string;
/** What the build stage makes. */
let image: string;
let servers: BuiltServers;

beforeAll(async () => {
  await ensureBuilt();
  directory = await mkdtemp(join(tmpdir(), 'leaf-image-'));
  root = join(directory, 'runtime');
  image = join(directory, 'image');
  await run(process.execPath, [join(ROOT, 'scripts/image-packages.mjs'), ROOT, image]);
  await cp(join(image, 'node_modules'), join(directory, 'packages'), { recursive: true });
  await run('sh', ['-c', collectStep()]);
  for (const folder of ['app', 'data', 'dev', 'proc']) await mkdir(join(root, folder), { recursive: true });
  await cp(image, join(root, 'app'), { recursive: true });
});
afterEach(() => servers.end());
afterAll(() => rm(directory, { recursive: true }));

/** The step of the Dockerfile that collects what runs, for this Node.js and this folder. */
function collectStep(): string {
  const [step = ''] = all(
    'RUN',
    stages.find(({ name }) => name === 'runtime')!,
  );
  const ofDirectory = step.replaceAll(/ \/(runtime|packages|empty|libraries)\b/g, ` ${directory}/$1`);
  return ofDirectory.replaceAll(/ \/usr\/local\/bin\/node\b/g, ` ${process.execPath}`);
}

/** Programs that run with the files of the image alone. */
async function insideImage(): Promise<{ readonly program: readonly string[]; readonly identity: string }> {
  const unshare = await requireTool('unshare');
  const [space, identity] = isRoot()
    ? [['--mount'], `--userspec=${user} --groups=`]
    : [['--mount', '--map-root-user'], ''];
  return { program: [unshare, ...space, 'sh', '-c', ENTER, 'sh', root], identity };
}

async function makeData(): Promise<string> {
  const data = await servers.makeDirectory();
  const [id] = user.split(':').map(Number);
  if (isRoot()) await chown(data, id!, id!);
  return data;
}

it('the server runs with the files of the image alone, as its user, on a read-only root', async () => {
  expect(basename(process.execPath)).toBe('node');
  expect(SERVER_FILE).toBe(join(ROOT, 'dist/apps/leaf-server/src/main.js'));
  const files = (await readdir(root, { recursive: true })).filter((file) =>
    /\b(sh|bash|dash|apt|dpkg|busybox)$/.test(file),
  );
  expect(files).toStrictEqual([]);
  const { program, identity } = await insideImage();
  servers = new BuiltServers(program);
  const data = await makeData();

  const server = servers.spawn(data, { LEAF_DATA_DIR: '/data', LEAF_PROCESSES: '2' }, [
    data,
    identity,
    '/app/dist/apps/leaf-server/src/main.js',
  ]);
  await ready(await server.listening());
  expect(await text(server.port, '/api/segment/get/leaf-segment-test')).toMatch(/^\d+$/);
  expect(await text(server.port, '/api/snowflake/get/order')).toMatch(/^\d+$/);
  expect(await json<object>(server.port, '/health/ready')).toMatchObject({ status: 'ok' });
  for (const path of ['/', '/docs', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js', '/openapi.json']) {
    expect([path, (await call(server.port, path, { headers: { accept: 'text/html' } })).status]).toEqual([path, 200]);
  }
  expect(await readdir(data)).toContain('leaf.sqlite');
  server.signal('SIGTERM');
  expect(await server.exit()).toEqual({ code: 0, signal: null });
});

it('every package beside the bundle loads there', async () => {
  const { EXTERNALS } = (await import(join(ROOT, 'apps/leaf-server/externals.mjs'))) as { EXTERNALS: string[] };
  const names = [...EXTERNALS.filter((name) => name !== 'swagger-ui-dist'), '@opentelemetry/api'];
  const load = `process.chdir('/app'); const load = require('node:module').createRequire('/app/');
    for (const name of ${JSON.stringify(names)}) load(name); console.log('loaded');`;
  const { program, identity } = await insideImage();
  servers = new BuiltServers(program);
  const data = await makeData();
  const loader = servers.spawn(data, {}, [data, identity, '-e', load]);
  expect(await loader.exit()).toEqual({ code: 0, signal: null });
  expect([loader.stdout, loader.stderr]).toEqual(['loaded\n', '']);
});

it('its list names the packages in the bundle and beside it, and no others', async () => {
  const { components } = JSON.parse(await readFile(join(image, 'sbom.cdx.json'), 'utf8')) as {
    components: { name: string; version: string; purl: string }[];
  };
  const names = components.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(['fastify', '@nestjs/core', 'typeorm', 'preact', 'libsql', 'pg', 'mysql2']),
  );
  for (const name of ['typescript', 'nan', 'shelljs', 'tar', '@scarf/scarf']) expect(names).not.toContain(name);
  for (const { purl, version } of components) expect(purl.endsWith(`@${version}`)).toBe(true);
  // All that is beside the bundle is in the list.
  const manifests = (await readdir(join(image, 'node_modules'), { recursive: true })).filter((file) =>
    /^(?:(?:.*\/)?node_modules\/)?(?:@[^/]+\/)?[^/]+\/package\.json$/.test(file),
  );
  expect(manifests.length).toBeGreaterThan(20);
  for (const file of manifests) {
    const { name } = JSON.parse(await readFile(join(image, 'node_modules', file), 'utf8')) as { name: string };
    expect(names).toContain(name);
  }
});
