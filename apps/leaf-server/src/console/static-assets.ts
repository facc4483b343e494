import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

/** `site/` of the built console, next to the built server. Missing when the server runs from sources. */
export const SITE_DIRECTORY = join(__dirname, '../../../leaf-console/site');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const PAGE = 'index.html';
const ASSETS = 'assets';

export type Encoding = 'br' | 'gzip';

export interface SiteFile {
  readonly type: string;
  readonly body: Buffer;
  /** The body, compressed by the build. */
  readonly compressed: Readonly<Record<Encoding, Buffer | undefined>>;
  /** Weak, because all encodings share it. */
  readonly etag: string;
}

/** The files of the console, read into memory at startup. No request reads the file system. */
export class StaticAssets {
  private constructor(
    readonly page: SiteFile | undefined,
    private readonly assets: ReadonlyMap<string, SiteFile>,
  ) {}

  static load(directory: string): StaticAssets {
    if (!existsSync(join(directory, PAGE))) return new StaticAssets(undefined, new Map());
    const folder = join(directory, ASSETS);
    const names = readdirSync(folder).filter((name) => TYPES[extname(name)] !== undefined);
    const assets = names.map((name) => [name, read(join(folder, name))] as const);
    return new StaticAssets(read(join(directory, PAGE)), new Map(assets));
  }

  /** A file whose name contains a hash of its content. */
  asset(name: string): SiteFile | undefined {
    return this.assets.get(name);
  }
}

function read(path: string): SiteFile {
  const body = readFileSync(path);
  const beside = (ending: string): Buffer | undefined =>
    existsSync(path + ending) ? readFileSync(path + ending) : undefined;
  return {
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    body,
    compressed: { br: beside('.br'), gzip: beside('.gz') },
    etag: `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
  };
}

/** The first of the offered encodings that `Accept-Encoding` accepts; undefined if none. */
export function acceptedEncoding(header: string | undefined, offered: readonly Encoding[]): Encoding | undefined {
  const taken = (header ?? '').split(',').map((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return { name, refused: parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) };
  });
  return offered.find((encoding) => taken.some(({ name, refused }) => name === encoding && !refused));
}

/** Whether `If-None-Match` matches the ETag. */
export function isUnchanged(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const strong = etag.replace(/^W\//, '');
  return header.split(',').some((part) => part.trim() === '*' || part.trim().replace(/^W\//, '') === strong);
}
