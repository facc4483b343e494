import 'reflect-metadata';
import { loadConfig } from '../../../apps/leaf-server/src/config/leaf-config';
import { type LeafServer, type ServerOptions, startServer } from '../../../apps/leaf-server/src/server';
import { makeDataDirectory, removeDataDirectory } from './data-directory';

export interface TestServer {
  readonly port: number;
  readonly directory: string;
  /** Ends it without a drain and removes its data. */
  readonly stop: () => Promise<void>;
  readonly server: LeafServer;
}

/** A server in this process, on a free port and, unless `LEAF_DATA_DIR` is given, a data directory of its own. */
export async function startTestServer(env: NodeJS.ProcessEnv = {}, options?: ServerOptions): Promise<TestServer> {
  const directory = env.LEAF_DATA_DIR ?? (await makeDataDirectory());
  const remove = async (): Promise<void> => {
    if (env.LEAF_DATA_DIR === undefined) await removeDataDirectory(directory);
  };
  const config = loadConfig({
    LEAF_PORT: '0',
    LEAF_HOST: '127.0.0.1',
    LEAF_DATA_DIR: directory,
    LEAF_LOG_LEVEL: 'error',
    // A short pause of the machine must not count as an overload or an outage.
    LEAF_MAX_LAG_MS: '60000',
    LEAF_SEGMENT_WAIT_MS: '10000',
    ...env,
  });
  const server = await startServer(config, options).catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  const stop = async (): Promise<void> => {
    await server.close({ drain: false });
    await remove();
  };
  return { port: server.port, directory, server, stop };
}
