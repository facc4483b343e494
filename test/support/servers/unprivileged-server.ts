import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SERVER_FILE } from '../build';
import { BuiltServer } from './built-server';
import { launch, serverEnv } from './launch';
import { exists, run } from './services';

/** A user ID without an account, as on container platforms, that no other test uses. */
const USER_ID = 1_000_000 + (process.pid % 1_000_000);

/**
 * The built server as somebody who owns nothing but the data directory. Its working directory, home and directory for
 * temporary files are one that cannot be written. When the tests do not run as root, or where other users do not get to
 * the code, it runs as their own user.
 */
export class UnprivilegedServer {
  private constructor(
    readonly process: BuiltServer,
    private readonly workingDirectory: string,
    /** Undefined: the user of the tests. */
    readonly userId: number | undefined,
  ) {}

  static async start(env: NodeJS.ProcessEnv): Promise<UnprivilegedServer> {
    const userId = await otherUser();
    const workingDirectory = await mkdtemp(join(tmpdir(), 'leaf-read-only-'));
    await chmod(workingDirectory, 0o555);
    const directory = await mkdtemp(join(tmpdir(), 'leaf-unprivileged-'));
    if (userId !== undefined) await run('chown', [`${userId}:${userId}`, directory]);
    const places = { HOME: workingDirectory, TMPDIR: workingDirectory };
    const child = launch({
      cwd: workingDirectory,
      userId,
      env: { NODE_ENV: 'production', ...places, ...serverEnv(directory), ...env },
    });
    return new UnprivilegedServer(new BuiltServer(directory, child), workingDirectory, userId);
  }

  /** What it left where it should not: in its working directory, or in the places where everybody may write. */
  async strayFiles(): Promise<string[]> {
    return [...(await readdir(this.workingDirectory)), ...(await this.ownedFiles())];
  }

  async end(): Promise<void> {
    await this.process.kill();
    await rm(this.process.directory, { recursive: true, force: true });
    await rm(this.workingDirectory, { recursive: true, force: true });
  }

  private async ownedFiles(): Promise<string[]> {
    if (this.userId === undefined) return [];
    const places: string[] = [];
    for (const place of new Set([tmpdir(), '/tmp', '/var/tmp', '/dev/shm', '/run/lock'])) {
      if (await exists(place)) places.push(place);
    }
    const search = [...places, '-maxdepth', '1', '-user', String(this.userId), '-not', '-name', 'leaf-unprivileged-*'];
    // It complains about what others remove meanwhile.
    const { stdout } = await run('find', search).catch((error: unknown) => error as { stdout: string });
    return stdout.split('\n').filter((path) => path !== '');
  }
}

async function otherUser(): Promise<number | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const reachable = (await isOpenToAll(process.execPath)) && (await isOpenToAll(SERVER_FILE));
  return reachable ? USER_ID : undefined;
}

async function isOpenToAll(file: string): Promise<boolean> {
  for (let above = dirname(file); above !== '/'; above = dirname(above)) {
    if (((await stat(above)).mode & 0o001) === 0) return false;
  }
  return ((await stat(file)).mode & 0o004) !== 0;
}
