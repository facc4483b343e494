import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces `path` by `text` so that a crash or power cut at any moment leaves the old text or the new one, whole:
 * written to a temporary file beside it, synced, renamed, and the directory synced.
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

/** Makes new names in a directory survive a power cut. Windows cannot open directories, and does not need it. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
