import { TcpProxy } from '../../../support/http/tcp-proxy';

/** The connections of one server: each goes through a proxy of its own. */
export interface Edges {
  /** From its callers, and from the other servers that ask for its time. */
  readonly client: TcpProxy;
  readonly database: TcpProxy;
  /** One for each member; none when it does not use a coordinator. */
  readonly coordinator: readonly TcpProxy[];
}

export async function openEdges(
  host: string,
  port: number,
  databasePort: number,
  coordinatorPorts: readonly number[],
): Promise<Edges> {
  return {
    client: await TcpProxy.start(port, host),
    database: await TcpProxy.start(databasePort),
    coordinator: await Promise.all(coordinatorPorts.map((memberPort) => TcpProxy.start(memberPort))),
  };
}

export async function closeEdges({ client, database, coordinator }: Edges): Promise<void> {
  await Promise.all([client, database, ...coordinator].map((proxy) => proxy.stop()));
}
