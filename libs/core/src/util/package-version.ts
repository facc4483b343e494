import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The version of the package that contains a folder; `unknown` when its files were copied out of the package.
 *
 * @param folder where the search for `package.json` starts, upwards
 */
export function packageVersion(folder: string): string {
  const file = join(folder, 'package.json');
  if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  const above = dirname(folder);
  return above === folder ? 'unknown' : packageVersion(above);
}
