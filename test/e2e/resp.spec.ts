import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { ensureBuilt } from '../support/build';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { respPortOf } from '../support/servers/resp-port';
import { run } from '../support/servers/services';
import { processesOf } from '../support/servers/supervised';
import { requireTool } from '../support/tools';
import { until } from '../support/until';

const TAG = 'leaf-segment-test';

const servers = new BuiltServers();
beforeAll(ensureBuilt);
afterEach(() => servers.end());

async function start(env: NodeJS.ProcessEnv = {}): Promise<BuiltServer> {
  return servers.start(await servers.makeDirectory(), { LEAF_RESP_PORT: '0', ...env });
}

/** What redis-cli prints. */
async function redisCli(port: number, ...words: readonly string[]): Promise<string> {
  const { stdout } = await run(await requireTool('redis-cli'), ['-p', String(port), ...words]);
  return stdout.trim();
}

it('redis-cli takes IDs with both versions of the protocol', async () => {
  const port = await respPortOf(await start());
  expect(await redisCli(port, 'INCR', TAG)).toBe('1');
  expect(await redisCli(port, 'INCRBY', TAG, '5')).toBe('6');
  expect(await redisCli(port, '-3', 'LEAF.NEXT', TAG, '2')).toBe('7\n8');
  expect(await redisCli(port, '-3', 'LEAF.DECODE', '1169786042799259000')).toContain('workerId 39');
  expect(await redisCli(port, 'INCR', 'none')).toContain('LEAF_TAG_NOT_FOUND');
});

it('redis-benchmark takes each ID once, from all processes of a server', async () => {
  const server = await start({ LEAF_PROCESSES: '2' });
  await until('both processes', () => processesOf(server).size === 2);
  const port = await respPortOf(server);
  const words = ['-p', String(port), '-c', '20', '-P', '16', '-n', '100000', '-q', 'INCR', TAG];
  const { stdout } = await run(await requireTool('redis-benchmark'), words);
  expect(stdout).toMatch(/INCR .*requests per second/);
  const ids = await Promise.all(
    Array.from({ length: 20 }, async () => (await redisCli(port, 'LEAF.NEXT', TAG, '1000')).split('\n')),
  );
  expect(new Set(ids.flat()).size).toBe(20_000);
  // Each process issues ranges of its own: together they are above the IDs of the benchmark.
  expect(Math.max(...ids.flat().map(Number))).toBeGreaterThan(120_000);
});

it('serves TLS with a certificate and its key, and refuses to start without them', async () => {
  const directory = await servers.makeDirectory();
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-keyout', key, '-out', cert];
  await run(await requireTool('openssl'), [...request, ...subject]);
  const tls = {
    LEAF_RESP_PORT: '0',
    LEAF_MAX_CONNECTIONS: '5',
    LEAF_RESP_TLS_CERT_FILE: cert,
    LEAF_RESP_TLS_KEY_FILE: key,
  };
  const port = await respPortOf(await servers.start(directory, tls));
  expect(await redisCli(port, '--tls', '--cacert', cert, 'INCR', TAG)).toBe('1');
  // They begin no handshake.
  const silent = Array.from({ length: 100 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  await Promise.all(silent.map((socket) => once(socket, 'connect')));
  expect(await redisCli(port, '--tls', '--cacert', cert, 'INCR', TAG)).toBe('2');
  silent.forEach((socket) => socket.destroy());
  const broken = servers.spawn(await servers.makeDirectory(), { ...tls, LEAF_RESP_TLS_KEY_FILE: cert });
  expect((await broken.exit()).code).toBe(1);
  expect(broken.stderr).toContain('LEAF_RESP_TLS_CERT_FILE and LEAF_RESP_TLS_KEY_FILE must name a certificate');
});
