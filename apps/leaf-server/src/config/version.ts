import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Of the package that this file is in, whether built or not; `unknown` when the files were copied out of theirs.
 *
 * @param from the folder in which to begin to look for its `package.json`, upwards
 */
export function serverVersion(from = __dirname): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
    if (folder === dirname(folder)) return 'unknown';
  }
}
