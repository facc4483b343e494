import { join } from 'node:path';
import { SERVER_FILE } from '../build';
import { BuiltServer } from './built-server';
import { launch, serverEnv } from './launch';
import { isRoot } from './private-server';
import { requireTool } from '../tools';

export interface Disk {
  /** As `mount` takes it: `2m`. */
  readonly size: string;
  /** A directory whose content is on it from the beginning. */
  readonly content?: string;
  readonly readOnly?: boolean;
}

/** Mounts the disk at the first argument, where only this process and its children see it, and becomes the server. */
const MOUNT = `mount -t tmpfs -o size="$2" tmpfs "$1" &&
  { [ -z "$3" ] || cp -a "$3/." "$1"; } &&
  { [ -z "$4" ] || mount -o remount,ro "$1"; } &&
  shift 4 && exec "$@"`;

/** The built server with a data directory on a disk of its own, which ends with it. Nothing of it is seen elsewhere. */
export async function spawnOnDisk(directory: string, disk: Disk, env: NodeJS.ProcessEnv = {}): Promise<BuiltServer> {
  const unshare = await requireTool('unshare');
  // Who is not root is so in a user namespace of its own.
  const space = isRoot() ? ['--mount'] : ['--mount', '--map-root-user'];
  const { size, content = '', readOnly = false } = disk;
  const mount = ['sh', '-c', MOUNT, 'sh', directory, size, content, readOnly ? 'ro' : ''];
  const command = [unshare, ...space, ...mount, process.execPath, SERVER_FILE];
  const child = launch({ command, cwd: '/', env: { ...serverEnv(directory), ...env } });
  return new BuiltServer(directory, child);
}

/** Where a file of its disk is found from outside. */
export function onDiskOf({ pid, directory }: BuiltServer, name: string): string {
  return join(`/proc/${pid}/root`, directory, name);
}
