import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { until } from './until';

export const ROOT = resolve(__dirname, '../..');

const LIMIT_MS = 300_000;

/** Runs what writes into the folders of this repository: of test files that run in parallel, one at a time. */
export async function exclusively<T>(what: string, action: () => Promise<T>): Promise<T> {
  const name = createHash('sha256').update(ROOT).digest('hex').slice(0, 16);
  const lock = join(tmpdir(), `leaf-${what}-${name}.lock`);
  await until(`lock of the ${what}`, () => tryLock(lock), LIMIT_MS);
  try {
    return await action();
  } finally {
    rmSync(lock, { force: true });
  }
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
