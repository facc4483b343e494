import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces the content of `path` atomically and durably: after a crash or power loss, the file has either the old text
 * or the new one. Writes a temporary file in the same directory, syncs it, renames it and syncs the directory.
 */
export async function writeDurably(path: string, text: string): Promise<void> {
  const temporary = `${path}.tmp`;
  const file = await open(temporary, 'w', 0o644);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncDirectory(dirname(path));
}

/**
 * Makes new entries of a directory survive a power loss. Does nothing on Windows, which cannot open directories and
 * does not need it.
 */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
