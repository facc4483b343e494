import { type Clock, formatInstance, type Instance, type Peer, type TimeSource } from '@leaf-ids/core';
import { isServerUrl, parseObject } from '@leaf-ids/core/internal';
import { ZookeeperFault } from './zookeeper-fault';
import { askTime } from './zookeeper-peers-time';
import type { ZookeeperSession } from './zookeeper-session';

/**
 * Maximum number of servers to compare clocks with. Without it, 1000 servers that start at once would send a million
 * requests.
 */
const MOST_ASKED = 32;

interface ListedServer {
  readonly instance: string;
  readonly workerId: number | undefined;
  readonly url: string | undefined;
}

/**
 * The running servers. Each has an ephemeral node `<ip>:<port>` with the data `{"ip","port","url","workerId"}`.
 *
 * The list is for operators and for the comparison of clocks. Worker IDs do not depend on it: a node may outlive its
 * server by the session timeout, and a server that is disconnected from ZooKeeper is not listed.
 */
export class ZookeeperPeers {
  private announcing: Promise<void> | undefined;

  /**
   * @param directory the parent node
   * @param url where other servers reach this server; if omitted, they do not request its time
   */
  constructor(
    private readonly session: ZookeeperSession,
    private readonly directory: string,
    private readonly url: string | undefined,
    private readonly clock: Clock,
  ) {}

  /**
   * Adds this server to the list in the background. The next call retries a failure. An existing node of another
   * session is left in place: it usually belongs to an earlier session of this server, which ends soon.
   */
  announce(instance: Instance, workerId: number): void {
    this.announcing ??= this.appear(instance, workerId)
      .catch(() => undefined)
      .finally(() => (this.announcing = undefined));
  }

  /** Resolves when no announcement is in progress. */
  async settled(): Promise<void> {
    await this.announcing;
  }

  /** @throws ZookeeperFault */
  async list(): Promise<Peer[]> {
    const servers = await this.servers();
    return servers.map(({ instance, workerId }) => ({ instance, workerId }));
  }

  /**
   * The other servers, each once, regardless of the number of its processes. If there are many, returns those that
   * follow our URL in sort order, so that all servers get the same number of requests.
   *
   * @throws ZookeeperFault
   */
  async timeSources(): Promise<TimeSource[]> {
    const others = new Map<string, string>();
    for (const { url, instance } of await this.servers()) {
      if (url !== undefined && url !== this.url) others.set(url, instance);
    }
    const ring = [...others].sort(([a], [b]) => (a < b ? -1 : 1));
    const isAfter = ([url]: [string, string]): boolean => url > (this.url ?? '');
    return [...ring.filter(isAfter), ...ring.filter((other) => !isAfter(other))]
      .slice(0, MOST_ASKED)
      .map(([url, name]) => ({ name, ask: () => askTime(url, this.clock) }));
  }

  private async appear(instance: Instance, workerId: number): Promise<void> {
    const path = `${this.directory}/${formatInstance(instance)}`;
    if ((await this.session.getData(path)) !== undefined) return;
    const { ip, port } = instance;
    await this.session.ensurePath(this.directory);
    await this.session.create(path, JSON.stringify({ ip, port: String(port), url: this.url, workerId }), 'ephemeral');
  }

  private async servers(): Promise<ListedServer[]> {
    const names = await this.names();
    const servers = await Promise.all(
      names.sort().map(async (instance) => {
        const node = await this.session.getData(`${this.directory}/${instance}`);
        return node === undefined ? [] : [{ instance, ...parse(node.data) }];
      }),
    );
    return servers.flat();
  }

  private async names(): Promise<string[]> {
    try {
      return await this.session.children(this.directory);
    } catch (error) {
      if (error instanceof ZookeeperFault && error.kind === 'no-node') return [];
      throw error;
    }
  }
}

/** Parses the data of a node; ignores invalid values. */
function parse(data: string): Omit<ListedServer, 'instance'> {
  const { url, workerId } = parseObject(data);
  return {
    url: isServerUrl(url) ? url : undefined,
    workerId: Number.isSafeInteger(workerId) ? (workerId as number) : undefined,
  };
}
