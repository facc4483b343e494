import { chmod } from 'node:fs/promises';

/** Runs `act` while this process may not open `path`. Root may open every file, so it acts as nobody meanwhile. */
export async function withoutRights<T>(path: string, act: () => Promise<T>): Promise<T> {
  const isRoot = process.getuid?.() === 0;
  await chmod(path, 0);
  if (isRoot) process.seteuid?.(65_534);
  try {
    return await act();
  } finally {
    if (isRoot) process.seteuid?.(0);
    await chmod(path, 0o700);
  }
}
