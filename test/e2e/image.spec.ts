import { chown, cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ensureBuilt, ROOT, SERVER_FILE } from '../support/build';
import { all, readStages } from '../support/deploy/dockerfile';
import { json, text } from '../support/http/http';
import { BuiltServers } from '../support/servers/built-server';
import { isRoot } from '../support/servers/private-server';
import { ready } from '../support/servers/readiness';
import { run } from '../support/servers/services';
import { requireTool } from '../support/tools';

const stages = readStages();
const [user = ''] = all('USER', stages.at(-1)!);
/** What the container engine and the later steps of the Dockerfile add; then the root is read-only. */
const ENTER = `mount --bind "$1" "$1" &&
  for part in node_modules dist; do mount --bind "$2/$part" "$1/app/$part" || exit 1; done &&
  mount --bind "$3" "$1/data" && mount --rbind /dev "$1/dev" && mount --rbind /proc "$1/proc" &&
  mount -o remount,ro,bind "$1" &&
  exec setpriv --no-new-privs chroot $4 "$1" /usr/local/bin/node /app/dist/apps/leaf-server/src/main.js`;

let directory: string;
let root: string;
let servers: BuiltServers;

beforeAll(async () => {
  await ensureBuilt();
  directory = await mkdtemp(join(tmpdir(), 'leaf-image-'));
  root = join(directory, 'runtime');
  await copyNativePackages(join(directory, 'packages'));
  await run('sh', ['-c', collectStep()]);
  for (const folder of ['app/node_modules', 'app/dist', 'data', 'dev', 'proc']) {
    await mkdir(join(root, folder), { recursive: true });
  }
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

/** Those that `npm ci --omit=dev` installs in the image. */
async function copyNativePackages(target: string): Promise<void> {
  const libsql = (await readdir(join(ROOT, 'node_modules/@libsql'))).filter((name) => !name.endsWith('-musl'));
  for (const path of ['zookeeper/build', ...libsql.map((name) => `@libsql/${name}`)]) {
    await cp(join(ROOT, 'node_modules', path), join(target, path), { recursive: true });
  }
}

it('the server runs with the files of the image alone, as its user, on a read-only root', async () => {
  expect(basename(process.execPath)).toBe('node');
  expect(SERVER_FILE).toBe(join(ROOT, 'dist/apps/leaf-server/src/main.js'));
  const files = (await readdir(root, { recursive: true })).filter((file) =>
    /\b(sh|bash|dash|apt|dpkg|busybox)$/.test(file),
  );
  expect(files).toEqual([]);
  const unshare = await requireTool('unshare');
  const [space, identity] = isRoot()
    ? [['--mount'], `--userspec=${user} --groups=`]
    : [['--mount', '--map-root-user'], ''];
  servers = new BuiltServers([unshare, ...space, 'sh', '-c', ENTER, 'sh', root, ROOT]);
  const data = await servers.makeDirectory();
  const [id] = user.split(':').map(Number);
  if (isRoot()) await chown(data, id!, id!);

  const server = servers.spawn(data, { LEAF_DATA_DIR: '/data' }, [data, identity]);
  await ready(await server.listening());
  expect(await text(server.port, '/api/segment/get/leaf-segment-test')).toMatch(/^\d+$/);
  expect(await text(server.port, '/api/snowflake/get/order')).toMatch(/^\d+$/);
  expect(await json<object>(server.port, '/health/ready')).toMatchObject({ status: 'ok' });
  expect(await readdir(data)).toContain('leaf.sqlite');
  server.signal('SIGTERM');
  expect(await server.exit()).toEqual({ code: 0, signal: null });
});
