import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Of the package that this file is in, whether built or not. */
export function serverVersion(): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
}
