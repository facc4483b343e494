import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The installed version of a package, even if it does not export its package.json. */
export function packageVersion(name: string): string {
  const paths = createRequire(__filename).resolve.paths(name) ?? [];
  for (const folder of paths) {
    try {
      return (JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')) as { version: string }).version;
    } catch {
      // Continue with the parent folder.
    }
  }
  throw new Error(`The package ${name} is not installed in ${dirname(__filename)} or above. Run "npm ci" first.`);
}
