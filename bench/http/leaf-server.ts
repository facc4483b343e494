import 'reflect-metadata';
import { join } from 'node:path';
import type * as Environment from '../../apps/leaf-server/src/config/environment';
import type * as Server from '../../apps/leaf-server/src/server';

/** node leaf-server.js <folder of the built server> on|off: runs the server with request metrics on or off. */
async function main([folder = '', counting]: readonly string[]): Promise<void> {
  const { readConfig } = (await import(join(folder, 'config/environment.js'))) as typeof Environment;
  const { startServer } = (await import(join(folder, 'server.js'))) as typeof Server;
  const server = await startServer(
    readConfig(() => ({ env: {}, warnings: [] })),
    { countRequests: counting === 'on' },
  );
  process.once('SIGTERM', () => void server.close().then(() => process.exit()));
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
