import { TcpProxy } from '../../../support/http/tcp-proxy';

/** The connections of one server: each goes through a proxy of its own. */
export interface Edges {
  /** From its callers, and from the other servers that ask for its time. */
  readonly client: TcpProxy;
  readonly database: TcpProxy;
  /** One for each server of the ensemble; none when it does not use ZooKeeper. */
  readonly zookeeper: readonly TcpProxy[];
}

export async function openEdges(
  host: string,
  port: number,
  databasePort: number,
  zookeeperPorts: readonly number[],
): Promise<Edges> {
  return {
    client: await TcpProxy.start(port, host),
    database: await TcpProxy.start(databasePort),
    zookeeper: await Promise.all(zookeeperPorts.map((zookeeperPort) => TcpProxy.start(zookeeperPort))),
  };
}

export async function closeEdges({ client, database, zookeeper }: Edges): Promise<void> {
  await Promise.all([client, database, ...zookeeper].map((proxy) => proxy.stop()));
}
