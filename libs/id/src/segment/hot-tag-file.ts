import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isTag, writeDurably } from '@leaf-ids/core/internal';

/** Reads the saved hot tags. A missing, incomplete or foreign file counts as empty: the file only speeds up a start. */
export async function readHotTags(path: string): Promise<[string, number][]> {
  try {
    const tags: unknown = JSON.parse(await readFile(path, 'utf8'));
    return Object.entries(tags as Record<string, unknown>).filter(
      (entry): entry is [string, number] => isTag(entry[0]) && typeof entry[1] === 'number',
    );
  } catch {
    return [];
  }
}

/** `{"order":1732000000000}`: each tag with the time of its last use, in Unix milliseconds. */
export async function writeHotTags(path: string, tags: readonly (readonly [string, number])[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeDurably(path, `${JSON.stringify(Object.fromEntries(tags))}\n`);
}
