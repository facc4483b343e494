import { createReadStream } from 'node:fs';
import { cp, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join } from 'node:path';
import { exclusively, ROOT } from '../../support/exclusively';
import { command } from '../../support/packages';

const VITEPRESS = 'docs/.vitepress';
const CONFIGURATION = ['config.mjs', 'links.mjs', 'sidebar.mjs'];
/** Pages that the navigation bar of the site links to, and the two indexes. */
const PAGES = [
  ...['docs/README.md', 'docs/quick-start.md', 'docs/configuration.md', 'docs/http-api.md', 'CHANGELOG.md'],
  ...['docs/zh/README.md', 'docs/zh/quick-start.md', 'docs/zh/configuration.md', 'docs/zh/moving-from-java-leaf.md'],
];
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** The documentation of this repository as a site below `base`, in the folder `out`. */
export async function buildSite(out: string, base: string): Promise<void> {
  const build = ['run', 'docs:build', '--', '--base', base, '--outDir', out];
  await exclusively('site', () => command('npm', build, ROOT));
}

/** A repository with an empty page for each one that the configuration of the site needs. */
export async function smallRepository(folder: string): Promise<void> {
  for (const page of PAGES) await writePage(folder, page, '# Page\n');
  // VitePress links Vue into the folder of the next package.json above.
  await writePage(folder, 'package.json', '{}');
  for (const file of CONFIGURATION) await cp(join(ROOT, VITEPRESS, file), join(folder, VITEPRESS, file));
  await symlink(join(ROOT, VITEPRESS, 'node_modules'), join(folder, VITEPRESS, 'node_modules'));
}

export async function writePage(folder: string, page: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, page)), { recursive: true });
  await writeFile(join(folder, page), text);
}

export function buildSmallSite(folder: string): Promise<string> {
  return command(join(ROOT, VITEPRESS, 'node_modules/.bin/vitepress'), ['build', 'docs'], folder);
}

/** Serves a folder below `base`, with 404.html for everything else, as GitHub Pages does. */
export async function serve(folder: string, base: string): Promise<Server> {
  const server = createServer((request, response) => {
    void fileOf(folder, base, request.url ?? '/').then((file) => {
      const found = file ?? join(folder, '404.html');
      response.writeHead(file === undefined ? 404 : 200, { 'content-type': TYPES[extname(found)] ?? '' });
      createReadStream(found).pipe(response);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

export const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function fileOf(folder: string, base: string, url: string): Promise<string | undefined> {
  const { pathname } = new URL(url, 'http://site');
  if (!pathname.startsWith(base)) return undefined;
  const path = decodeURI(pathname.slice(base.length));
  const file = join(folder, path.endsWith('/') || path === '' ? `${path}index.html` : path);
  return (await stat(file).catch(() => undefined))?.isFile() === true ? file : undefined;
}
