import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, constants, lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

export const run = promisify(execFile);

const POLICY_FILE = '/usr/sbin/policy-rc.d';

/**
 * The path of a program: looked for on PATH, then in `places`, where one part of a path may be `*` (the highest version
 * wins). What is missing is installed when the tests run as root on Debian; everywhere else the error tells how to.
 */
export function requireBinary(name: string, places: readonly string[], debianPackage: string): Promise<string> {
  const path = (process.env.PATH ?? '').split(delimiter).filter((directory) => directory !== '');
  return requireFile(name, () => find(name, [...path, ...places], constants.X_OK), places, debianPackage);
}

/** The path of a file that is no program, as a Java archive: as {@link requireBinary}, without PATH. */
export function requireLibrary(name: string, places: readonly string[], debianPackage: string): Promise<string> {
  return requireFile(name, () => find(name, places, constants.R_OK), places, debianPackage);
}

async function requireFile(
  name: string,
  look: () => Promise<string | undefined>,
  places: readonly string[],
  debianPackage: string,
): Promise<string> {
  const found = await look();
  if (found !== undefined) return found;
  const install = ['-o', 'DPkg::Lock::Timeout=120', 'install', '-y', '--no-install-recommends', debianPackage];
  if (process.getuid?.() !== 0 || !(await exists('/etc/debian_version'))) {
    throw new Error(
      `The tests need ${name}, which is not where it was looked for (programs on PATH, then ${places.join(', ')}). ` +
        `Install it, on Debian with: apt-get update && apt-get ${install.join(' ')}`,
    );
  }
  return withLock('install', async () => {
    if ((await look()) === undefined) await withoutDaemons(() => aptGet(['update'], install));
    const installed = await look();
    if (installed === undefined) throw new Error(`apt-get ${install.join(' ')} did not bring ${name}`);
    return installed;
  });
}

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

async function find(name: string, places: readonly string[], mode: number): Promise<string | undefined> {
  for (const place of places) {
    for (const directory of await expand(place)) {
      const path = join(directory, name);
      const usable = await access(path, mode).then(
        () => true,
        () => false,
      );
      if (usable) return path;
    }
  }
  return undefined;
}

async function expand(place: string): Promise<string[]> {
  const [above = '', below] = place.split('*');
  if (below === undefined) return [place];
  const names = await readdir(above).catch((): string[] => []);
  names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  return names.map((name) => above + name + below);
}

async function aptGet(...commands: string[][]): Promise<void> {
  for (const command of commands) {
    await run('apt-get', command, {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      maxBuffer: 64 * 1024 * 1024,
    });
  }
}

/** A package that brings a server would start it; Debian asks this file whether it may. */
async function withoutDaemons(act: () => Promise<void>): Promise<void> {
  const placed = !(await exists(POLICY_FILE));
  if (placed) await writeFile(POLICY_FILE, '#!/bin/sh\nexit 101\n', { flag: 'wx', mode: 0o755 });
  try {
    await act();
  } finally {
    if (placed) await rm(POLICY_FILE);
  }
}
