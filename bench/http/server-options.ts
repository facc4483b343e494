import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const BUILT_SERVER = 'dist/apps/leaf-server/src/main.js';

/**
 * Parses the options of most parts: `--quick`, and `--server <main.js>`, the build to measure.
 *
 * @throws Error if the build does not exist
 */
export function readServerOptions(): { readonly quick: boolean; readonly server: string } {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, server: { type: 'string', default: BUILT_SERVER } },
  });
  const server = resolve(values.server);
  if (!existsSync(server)) throw new Error(`Missing ${server}. Run "npm run build" first.`);
  return { quick: values.quick, server };
}
