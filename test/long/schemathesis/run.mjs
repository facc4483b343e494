// node test/long/schemathesis/run.mjs [-- options]: runs schemathesis from PyPI against the built server and its OpenAPI document.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const VERSION = '4.32.5';
const root = join(import.meta.dirname, '../../..');
const environment = join(root, '.cache/schemathesis', VERSION);
const program = join(environment, 'bin/schemathesis');
const token = randomBytes(24).toString('hex');

install();
run(process.execPath, ['scripts/ensure-build.mjs'], { cwd: root });
const directory = mkdtempSync(join(tmpdir(), 'leaf-schemathesis-'));
const server = spawn(process.execPath, [join(root, 'dist/apps/leaf-server/src/main.js')], {
  cwd: directory,
  env: { PATH: process.env.PATH, LEAF_HOST: '127.0.0.1', LEAF_PORT: '0', LEAF_ADMIN_TOKEN: token },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const addresses = await spreadAddresses(await portOf(server));
try {
  process.exitCode = await check(addresses.address().port);
} finally {
  addresses.close();
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGINT');
  await ended;
  rmSync(directory, { recursive: true });
}

/** A virtual environment of its own: nothing is installed for other programs. */
function install() {
  if (existsSync(program)) return;
  run('python3', ['-m', 'venv', environment]);
  run(join(environment, 'bin/pip'), ['install', '--quiet', `schemathesis==${VERSION}`]);
}

/** Requests are answered while schemathesis runs, so the child process must not block this one. */
function check(port) {
  const config = ['--config-file', join(import.meta.dirname, 'schemathesis.toml')];
  const headers = [`--header=Authorization: Bearer ${token}`, '--header=Connection: close'];
  const options = ['--checks=all', '--no-color', ...headers, ...process.argv.slice(2)];
  const words = [...config, 'run', `http://127.0.0.1:${port}/openapi.json`, ...options];
  const child = spawn(program, words, { cwd: directory, stdio: 'inherit' });
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

/**
 * Forwards each connection, which carries one request, from a loopback address of its own. From a single address, the
 * requests with a wrong token would soon be answered 429.
 */
function spreadAddresses(port) {
  let opened = 0;
  const forwarder = createServer((incoming) => {
    opened++;
    const localAddress = `127.${1 + ((opened >> 16) & 127)}.${(opened >> 8) & 255}.${opened & 255}`;
    const outgoing = connect({ host: '127.0.0.1', port, localAddress });
    incoming.pipe(outgoing).pipe(incoming);
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ]) {
      socket.on('error', () => other.destroy());
    }
  });
  return new Promise((resolve) => forwarder.listen(0, '127.0.0.1', () => resolve(forwarder)));
}

/** The log is read to its end, or the server would wait for a reader. */
function portOf({ stdout }) {
  return new Promise((resolve, reject) => {
    let text = '';
    stdout.setEncoding('utf8');
    stdout.on('data', (part) => {
      text += part;
      const port = /Listening on http:\/\/\S+?:(\d+)/.exec(text)?.[1];
      if (port !== undefined) resolve(port);
    });
    stdout.on('end', () => reject(new Error(`The server did not start:\n${text}`)));
  });
}

function run(command, words, options = {}) {
  const { status, error } = spawnSync(command, words, { stdio: 'inherit', ...options });
  if (status !== 0) throw new Error(`${command} ${words.join(' ')} failed`, { cause: error });
}
