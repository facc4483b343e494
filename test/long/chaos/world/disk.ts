import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../../support/servers/services';

/** Room for the files of a server and no more. */
const SIZE = '1m';
const FILLING = 'filling';
const CHUNK = 4096;

/** The small disk of one server's data directory: a file system in memory, which takes root. */
export class Disk {
  private constructor(readonly directory: string) {}

  /** Whether this user may have one; elsewhere the data directory is a plain one and its disk has no faults. */
  static async isPossible(directory: string): Promise<boolean> {
    if (process.getuid?.() !== 0) return false;
    const disk = await Disk.mount(join(directory, 'trial')).catch(() => undefined);
    try {
      await disk?.turnReadOnly();
      await disk?.turnWritable();
      return disk !== undefined;
    } catch {
      return false;
    } finally {
      await disk?.unmount();
    }
  }

  static async mount(directory: string): Promise<Disk> {
    await mkdir(directory, { recursive: true });
    await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'leaf-chaos', directory]);
    return new Disk(directory);
  }

  async fill(): Promise<void> {
    const file = await open(join(this.directory, FILLING), 'w');
    const chunk = Buffer.alloc(CHUNK);
    try {
      for (;;) await file.write(chunk);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      await file.close();
    }
  }

  async makeRoom(): Promise<void> {
    await rm(join(this.directory, FILLING), { force: true });
  }

  /** No file can be made or replaced any more; what a process has open it may go on writing to. */
  async turnReadOnly(): Promise<void> {
    for (const folder of await this.folders()) await run('chattr', ['+i', folder]);
  }

  async turnWritable(): Promise<void> {
    for (const folder of await this.folders()) await run('chattr', ['-i', folder]);
  }

  async unmount(): Promise<void> {
    await run('umount', ['--lazy', this.directory]);
  }

  private async folders(): Promise<string[]> {
    const { stdout } = await run('find', [this.directory, '-xdev', '-type', 'd']);
    return stdout.split('\n').filter((path) => path !== '');
  }
}

/** Of runs that were killed: their processes are gone, what they mounted is not. */
export async function unmountLeftBehind(isLeftBehind: (path: string) => boolean): Promise<void> {
  for (const line of (await readFile('/proc/mounts', 'utf8').catch(() => '')).split('\n')) {
    const [device, path = ''] = line.split(' ');
    if (device === 'leaf-chaos' && isLeftBehind(path)) await run('umount', ['--lazy', path]).catch(() => undefined);
  }
}
