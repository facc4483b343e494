import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { command, type Manifest } from './packages';

/** Serves tarballs as an npm registry does, so that `npm install` finds the packages by their names. */
export class PackageRegistry {
  private constructor(private readonly server: Server) {}

  /** @param tarballs the path of each by the name of its package */
  static async start(tarballs: ReadonlyMap<string, string>): Promise<PackageRegistry> {
    const server = createServer((request, response) => {
      const [, name = '', file] = /^\/(@[^/]+\/[^/]+)(\/tarball)?$/.exec(decodeURIComponent(request.url ?? '')) ?? [];
      const tarball = tarballs.get(name);
      if (tarball === undefined) return void response.writeHead(404).end();
      const body = file === undefined ? documentOf(name, tarball, request.headers.host ?? '') : readFile(tarball);
      void body.then((content) => response.end(content));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return new PackageRegistry(server);
  }

  /** The line of `.npmrc` for the packages of a scope. */
  npmrc(scope: string): string {
    return `${scope}:registry=http://127.0.0.1:${(this.server.address() as AddressInfo).port}/\n`;
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }
}

async function documentOf(name: string, tarball: string, host: string): Promise<string> {
  const manifest = JSON.parse(await command('tar', ['-xOf', tarball, 'package/package.json'], '.')) as Manifest;
  const integrity = `sha512-${createHash('sha512')
    .update(await readFile(tarball))
    .digest('base64')}`;
  const dist = { tarball: `http://${host}/${name}/tarball`, integrity };
  const { version } = manifest;
  return JSON.stringify({ name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } });
}
