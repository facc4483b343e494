import { startMariadb } from '../../test/support/servers/mariadb';
import { startZookeeper } from '../../test/support/servers/zookeeper';
import { requireTool, type ToolName } from '../../test/support/tools';
import { zookeeperClient } from './zookeeper-client';

/** What the servers under test store their segments and worker IDs in. */
export interface SetUp {
  readonly name: string;
  /** Whether it is the one that the targets are for. */
  readonly production: boolean;
  /** The settings of the servers. */
  readonly env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

const TOOLS: readonly ToolName[] = ['mariadbd', 'java', 'zookeeper.jar'];

/** MariaDB and ZooKeeper, each started for this run; the defaults of the server if they are not installed. */
export async function startSetUp(): Promise<SetUp> {
  try {
    for (const tool of TOOLS) await requireTool(tool);
  } catch (error) {
    console.error(
      `${String(error)}\nThe servers use SQLite and registry local instead, to which the targets do not apply.`,
    );
    return { name: 'SQLite and registry local', production: false, env: {}, stop: () => Promise.resolve() };
  }
  const client = zookeeperClient();
  const [mariadb, zookeeper] = await Promise.all([startMariadb(), startZookeeper()]);
  return {
    name: 'MariaDB and registry zk_recycle',
    production: true,
    env: {
      ...client,
      LEAF_DATABASE_URL: await mariadb.createDatabase(),
      LEAF_SNOWFLAKE_REGISTRY: 'zk_recycle',
      LEAF_ZOOKEEPER: await zookeeper.createDatabase(),
    },
    stop: async () => {
      await Promise.all([mariadb.stop(), zookeeper.stop()]);
    },
  };
}
