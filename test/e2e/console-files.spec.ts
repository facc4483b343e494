import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { ensureBuilt } from '../support/build';
import { BuiltServers } from '../support/servers/built-server';
import { call } from '../support/http/http';
import { problemCode } from '../support/http/problem';
import { startTestServer } from '../support/servers/server';

/** What the first load may weigh, compressed: all that the page asks for, itself included. */
const MAX_BYTES = 150_000;

interface Bytes {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

const servers = new BuiltServers();
let port: number;
let assets: string[];

beforeAll(async () => {
  await ensureBuilt();
  port = (await servers.start(await servers.makeDirectory())).port;
  const page = (await get('/')).body.toString();
  // Each is relative to the page: a proxy may put it below a path of its own.
  assets = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path!.replace('./', '/'));
  expect(page).not.toMatch(/(?:src|href)="[^.]/);
});

afterAll(() => servers.end());

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Bytes> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) });
      });
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

it('is a page that asks each time whether it is the newest', async () => {
  const { status, headers } = await get('/');
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    vary: 'accept-encoding',
  });
  const policy = String(headers['content-security-policy']).split('; ');
  expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'"]));
  expect(policy.join()).not.toContain('unsafe');
  const again = await get('/', { 'if-none-match': String(headers.etag) });
  expect([again.status, again.body.length]).toEqual([304, 0]);
  expect((await get('/', { 'if-none-match': '"other"' })).status).toBe(200);
});

it('has files that are kept for ever, small and whole in each encoding', async () => {
  expect(assets.map((path) => path.replace(/-[\w-]{8}\./, '.')).sort()).toEqual([
    '/assets/icon.svg',
    '/assets/index.css',
    '/assets/index.js',
  ]);
  let bytes = 0;
  for (const path of ['/', ...assets]) {
    const plain = await get(path);
    const br = await get(path, { 'accept-encoding': 'gzip, br' });
    const gzip = await get(path, { 'accept-encoding': 'gzip' });
    expect([br.headers['content-encoding'], gzip.headers['content-encoding']]).toEqual(['br', 'gzip']);
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true);
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
    if (path !== '/') expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(plain.headers['content-type']).toMatch(/^(text\/(html|css|javascript); charset=utf-8|image\/svg\+xml)$/);
    bytes += gzip.body.length;
  }
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(MAX_BYTES);
});

it('answers HEAD without the content', async () => {
  const [head, whole] = [await get(assets[0]!, {}, 'HEAD'), await get(assets[0]!)];
  expect([head.status, head.body.length]).toEqual([200, 0]);
  expect(head.headers['content-length']).toBe(String(whole.body.length));
});

it('gives nothing but its files', async () => {
  const name = assets[0]!.slice('/assets/'.length);
  const paths = [
    '/assets',
    '/assets/',
    '/assets/nothing.js',
    '/assets/..%2findex.html',
    '/assets/%2e%2e%2f%2e%2e%2fapps%2fleaf-server%2fsrc%2fmain.js',
    '/assets/../index.html',
    '/assets/..',
    `/assets/${name}.br`,
    `/assets//${name}`,
    `/assets/${name}%00`,
    '/assets/constructor',
    '/index.html',
    '/.leaf-console',
  ];
  for (const path of paths) expect([path, problemCode(await call(port, path))]).toEqual([path, 'LEAF_NOT_FOUND']);
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    for (const path of ['/', assets[0]!]) {
      expect([method, problemCode(await call(port, path, { method }))]).toEqual([method, 'LEAF_METHOD_NOT_ALLOWED']);
    }
  }
});

it('says so when it was not built', async () => {
  const server = await startTestServer();
  try {
    const { status, headers, body } = await call(server.port, '/');
    expect([status, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(body).toContain('npm run build');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  } finally {
    await server.stop();
  }
});
