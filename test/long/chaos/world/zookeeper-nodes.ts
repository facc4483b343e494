import { SystemClock } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { ZookeeperFault } from '../../../../libs/registry/src/stores/zookeeper/zookeeper-fault';
import { parseZookeeperAddress } from '../../../../libs/registry/src/stores/zookeeper/zookeeper-address';
import { ZookeeperSession } from '../../../../libs/registry/src/stores/zookeeper/zookeeper-session';

const LIMITS = { connectMs: 5000, callMs: 5000, sessionMs: 10_000 };
/** Servers may write the node, or create one below it, during the removal. */
const ATTEMPTS = 100;
const ROOT = '/snowflake';

/**
 * Removes all data of the registries while servers use it. Removes the documents first, as if ZooKeeper had lost its
 * data: a missing record beside a document means that someone removed the record.
 */
export async function emptyRegistries(address: string): Promise<void> {
  const session = new ZookeeperSession(
    { ...LIMITS, address: parseZookeeperAddress(address) },
    new SystemClock(),
    systemRandom,
  );
  try {
    const paths = await below(session, ROOT);
    const documents = paths.filter((path) => path.endsWith('/registry'));
    if (documents.length === 0) throw new Error(`No registry of ${address} has a document: ${paths.join(', ')}`);
    for (const path of [...documents, ...paths.filter((other) => !documents.includes(other))])
      await remove(session, path);
  } finally {
    await session.close();
  }
}

/** Lists children before their parents. */
async function below(session: ZookeeperSession, path: string): Promise<string[]> {
  const paths: string[] = [];
  for (const name of await session.children(path)) {
    const child = `${path}/${name}`;
    paths.push(...(await below(session, child)), child);
  }
  return paths;
}

async function remove(session: ZookeeperSession, path: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const node = await session.getData(path);
    if (node === undefined) return;
    try {
      await session.remove(path, node.version);
      return;
    } catch (error) {
      if (!(error instanceof ZookeeperFault) || attempt === ATTEMPTS) throw error;
      // A server has created its record below the node again; the old data is gone.
      if ((await session.children(path)).length > 0) return;
    }
  }
}
