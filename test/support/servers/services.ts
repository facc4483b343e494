import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const run = promisify(execFile);

/** Where the servers of the tests live; the user the servers run as may be another one and has to get in. */
export async function servicesDirectory(): Promise<string> {
  const uid = process.getuid?.() ?? 0;
  const path = join(tmpdir(), `leaf-test-services-${uid}`);
  await mkdir(path, { recursive: true });
  const status = await lstat(path);
  if (!status.isDirectory() || status.uid !== uid) throw new Error(`${path} is not a directory of user ${uid}`);
  await chmod(path, 0o755);
  return path;
}

/** One process at a time, among all those of this user. The lock of a process that dies is free at once. */
export async function withLock<T>(name: string, act: () => Promise<T>): Promise<T> {
  const file = join(await servicesDirectory(), `${name}.lock`);
  const holder = spawn('flock', [file, 'sh', '-c', 'echo held; exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(holder, 'close');
  const lost = ended.then(() => Promise.reject(new Error(`flock ${file} failed`)));
  await Promise.race([once(holder.stdout, 'data'), lost]);
  try {
    return await act();
  } finally {
    holder.stdin.end();
    await ended;
  }
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
