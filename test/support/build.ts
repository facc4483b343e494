import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { until } from './until';

export const ROOT = resolve(__dirname, '../..');
export const SERVER_FILE = join(ROOT, 'dist/apps/leaf-server/src/main.js');

const BUILD_LIMIT_MS = 180_000;

/** Builds the server if its sources have changed. If test files run in parallel, one builds and the others wait. */
export async function ensureBuilt(): Promise<void> {
  const name = createHash('sha256').update(ROOT).digest('hex').slice(0, 16);
  const lock = join(tmpdir(), `leaf-build-${name}.lock`);
  await until('lock of the build', () => tryLock(lock), BUILD_LIMIT_MS);
  try {
    await build();
  } finally {
    rmSync(lock, { force: true });
  }
}

function build(): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, ['scripts/ensure-build.mjs'], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (output += part.toString()));
    child.on('error', fail);
    child.on('close', (code) => (code === 0 ? done() : fail(new Error(`The build failed:\n${output}`))));
  });
}

function tryLock(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!isHeld(path)) rmSync(path, { force: true });
    return false;
  }
}

/** A killed process leaves its lock file behind. */
function isHeld(path: string): boolean {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    if (pid > 0) process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code !== 'ESRCH';
  }
}
