import type { PrivateServer } from '../support/servers/private-server';
import { connect } from '../support/contract/sql-stores';
import { parseDatabaseUrl } from '@leaf-ids/persistence';
import type { Engine } from './engine-suite';

interface SingleServer<Server> extends Engine {
  readonly server: Server;
}

/** An engine that is one server. */
export async function singleServer<Server extends PrivateServer>(server: Server): Promise<SingleServer<Server>> {
  return {
    server,
    version: await versionOf(server),
    createDatabase: async () => [await server.createDatabase()],
    stop: () => server.stop(),
  };
}

/** As the server says it. */
export async function versionOf(server: PrivateServer): Promise<string> {
  const database = await connect(parseDatabaseUrl(await server.createDatabase()), false);
  try {
    const [row] = await database.query<{ version: string }[]>('SELECT VERSION() AS version');
    return /\d+(\.\d+)+/.exec(row?.version ?? '')?.[0] ?? 'unknown';
  } finally {
    await database.destroy();
  }
}
