import { type Clock, formatInstance, type Instance, parseObject, type Peer, type TimeSource } from '@leaf-ids/core';
import { ZookeeperFault } from './zookeeper-fault';
import { askTime, isServerUrl } from './zookeeper-peers-time';
import type { ZookeeperSession } from './zookeeper-session';

/** Enough for a mean. A thousand servers that start at once shall not ask each other a million times. */
const MOST_ASKED = 32;

interface ListedServer {
  readonly instance: string;
  readonly workerId: number | undefined;
  readonly url: string | undefined;
}

/**
 * The servers that are up: an ephemeral node `<ip>:<port>` each, with `{"ip","port","url","workerId"}`.
 *
 * It is a list for operators and for the comparison of clocks. Nothing about worker IDs rests on it: a node may outlive
 * its server by the session time-out, and a server that is cut off from ZooKeeper is not listed.
 */
export class ZookeeperPeers {
  private announcing: Promise<void> | undefined;

  /**
   * @param directory the node above
   * @param url where the others reach this server; without one, its clock is not asked
   */
  constructor(
    private readonly session: ZookeeperSession,
    private readonly directory: string,
    private readonly url: string | undefined,
    private readonly clock: Clock,
  ) {}

  /**
   * Sees to it that this server is listed, without being waited for: a failure is left for the next time. So is a node
   * of another session, which is as a rule one of our own that ends soon.
   */
  announce(instance: Instance, workerId: number): void {
    this.announcing ??= this.appear(instance, workerId)
      .catch(() => undefined)
      .finally(() => (this.announcing = undefined));
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await this.announcing;
  }

  /** @throws ZookeeperFault */
  async list(): Promise<Peer[]> {
    const servers = await this.servers();
    return servers.map(({ instance, workerId }) => ({ instance, workerId }));
  }

  /**
   * Each server once, however many of its processes are listed, and not our own: their clock is ours. Of many servers
   * those that follow ours by their address, so that each is asked by as many.
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

/** Of what cannot be read, nothing. */
function parse(data: string): Omit<ListedServer, 'instance'> {
  const { url, workerId } = parseObject(data);
  return {
    url: isServerUrl(url) ? url : undefined,
    workerId: Number.isSafeInteger(workerId) ? (workerId as number) : undefined,
  };
}
