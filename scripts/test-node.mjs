// npm run test:node -- 22 24: runs the tests that meet Node.js (sockets, files, processes, native modules) on other
// versions of it, each with its own installation of packages. All tests of both tiers: npm run test:node -- 22 --all
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { installNode } from './install-node.mjs';

const ROOT = join(import.meta.dirname, '..');
const CACHE = join(ROOT, '.cache/node');
/** Path of npm, because the package `node` does not contain it. */
const NPM = process.env.npm_execpath;
const words = process.argv.slice(2);
const versions = words.filter((word) => word !== '--all');
const tests = ['node_modules/jest/bin/jest.js', '--selectProjects', 'fast', 'server'];
if (!words.includes('--all'))
  tests.push('--testPathPatterns', 'test/(fast/(cli|client|contract|embedded|server)|server)/');

if (NPM === undefined || versions.length === 0) throw new Error('Usage: npm run test:node -- <Node version>… [--all]');
for (const version of versions) test(version);

function test(version) {
  const node = installNode(version);
  console.log(`\nNode ${run(node, ['--version']).trim()}`);
  const checkout = copySources(version);
  const env = {
    ...process.env,
    PATH: dirname(node) + delimiter + process.env.PATH,
    // node-gyp uses these headers for native modules and does not download them.
    npm_config_nodedir: dirname(dirname(node)),
  };
  const installed = run(node, [NPM, 'ci', '--no-audit', '--no-fund', '--prefer-offline'], {
    cwd: checkout,
    env,
    stdio: 'pipe',
  });
  if (installed.includes('EBADENGINE')) throw new Error(`npm ci on Node ${version}:\n${installed}`);
  run(node, tests, { cwd: checkout, env, stdio: 'inherit' });
  rmSync(checkout, { recursive: true, maxRetries: 10, retryDelay: 200 });
}

/** Copies tracked and untracked files to a new folder: node_modules of this checkout is for another version of Node. */
function copySources(version) {
  const checkout = join(CACHE, version, 'checkout');
  rmSync(checkout, { recursive: true, force: true });
  const files = run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']).split('\0');
  for (const file of files.filter(Boolean)) cpSync(join(ROOT, file), join(checkout, file));
  return checkout;
}

function run(program, words, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, words, { cwd: ROOT, encoding: 'utf8', ...options });
  if (status !== 0) throw new Error(`${words.join(' ')} failed\n${error?.message ?? ''}${stdout ?? ''}${stderr ?? ''}`);
  return `${stdout ?? ''}${stderr ?? ''}`;
}
