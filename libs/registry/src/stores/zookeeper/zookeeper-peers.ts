import { type Clock, formatInstance, type Instance, type Peer, type TimeSource } from '@leaf-ids/core';
import { isServerUrl, parseObject, withinDeadline } from '@leaf-ids/core/internal';
import { ZookeeperFault } from './zookeeper-fault';
import type { ZookeeperCalls } from './zookeeper-session';

const PATH = '/api/internal/time';
/** Time limit of a request to another server, in milliseconds. */
const LIMIT_MS = 1000;
/** The response has about 20 bytes. */
const MAX_BYTES = 1024;
/**
 * Requests the time of the server at `url`, in Unix milliseconds. Rejects after one second, and if the response is not
 * a time.
 */
export async function askTime(url: string, clock: Clock): Promise<number> {
  const target = new URL(PATH, url);
  const abort = new AbortController();
  const answer = fetchTime(target, abort.signal);
  try {
    if (await withinDeadline(answer, clock.monotonic() + LIMIT_MS, clock)) return await answer;
    throw new Error(`${target.href} did not respond within ${LIMIT_MS} ms`);
  } finally {
    abort.abort();
    // Ignore the rejection that the abort causes.
    answer.catch(() => undefined);
  }
}

async function fetchTime(target: URL, signal: AbortSignal): Promise<number> {
  const response = await fetch(target, { signal, redirect: 'error' });
  if (response.status !== 200) throw new Error(`${target.href} returned status ${response.status}`);
  const { now } = (JSON.parse(await readSome(response, target)) ?? {}) as { now?: unknown };
  if (Number.isSafeInteger(now) && (now as number) > 0) return now as number;
  throw new Error(`${target.href} returned no valid time`);
}

async function readSome({ body }: Response, target: URL): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new Error(`${target.href} returned more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Maximum number of servers to compare clocks with. Without it, 1000 servers that start at once would send a million
 * requests.
 */
const MAX_ASKED = 32;

/** Interval between two checks of our node, in milliseconds. Without it, each report (every 3 s) would read the node. */
const CHECKED_MS = 15_000;

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
  /** The servers as last listed, with the version of the list of nodes before it was read. */
  private listed: { readonly version: string; readonly servers: readonly ListedServer[] } | undefined;
  private announcing: Promise<void> | undefined;
  /** The session in which our node was seen last, and when, in monotonic milliseconds. */
  private announced: { readonly session: number; readonly at: number } | undefined;

  /**
   * @param directory the parent node
   * @param url where other servers reach this server; if omitted, they do not request its time
   */
  constructor(
    private readonly session: ZookeeperCalls,
    private readonly directory: string,
    private readonly url: string | undefined,
    private readonly clock: Clock,
  ) {}

  /**
   * Adds this server to the list in the background, and checks every 15 s that it is still there. The next call retries
   * a failure. An existing node of another session is left in place: it usually belongs to an earlier session of this
   * server, which ends soon.
   */
  announce(instance: Instance, workerId: number): void {
    const { session, at = -Infinity } = this.announced ?? {};
    const isRecent = this.clock.monotonic() - at < CHECKED_MS;
    if (isRecent && session === this.session.snapshot().generation) return;
    this.announcing ??= this.appear(instance, workerId)
      .catch(() => undefined)
      .finally(() => (this.announcing = undefined));
  }

  /** Resolves when no announcement is in progress. */
  async settled(): Promise<void> {
    await this.announcing;
  }

  /**
   * Reads the nodes only after one of them was created or removed: their data never changes.
   *
   * @throws ZookeeperFault
   */
  async list(): Promise<Peer[]> {
    const version = await this.session.childrenVersion(this.directory);
    if (version === undefined) return [];
    if (this.listed?.version !== version) this.listed = { version, servers: await this.read(await this.names()) };
    return this.listed.servers.map(({ instance, workerId }) => ({ instance, workerId }));
  }

  /**
   * The other servers, each once, regardless of the number of its processes. If there are many, reads and returns only
   * those that follow our address in sort order, so that all servers get the same number of requests.
   *
   * @throws ZookeeperFault
   */
  async timeSources(): Promise<TimeSource[]> {
    const own = isServerUrl(this.url) ? new URL(this.url).host : '';
    const names = await this.names();
    const ring = [...names.filter((name) => name > own), ...names.filter((name) => name <= own)];
    const others = new Map<string, string>();
    for (let from = 0; from < ring.length && others.size < MAX_ASKED; from += MAX_ASKED) {
      for (const { url, instance } of await this.read(ring.slice(from, from + MAX_ASKED))) {
        if (url !== undefined && url !== this.url && !others.has(url)) others.set(url, instance);
      }
    }
    return [...others].slice(0, MAX_ASKED).map(([url, name]) => ({ name, ask: () => askTime(url, this.clock) }));
  }

  private async appear(instance: Instance, workerId: number): Promise<void> {
    const path = `${this.directory}/${formatInstance(instance)}`;
    const found = await this.session.getData(path);
    if (found?.ephemeral === 'ours') this.announced = { session: found.session, at: this.clock.monotonic() };
    if (found !== undefined) return;
    const { ip, port } = instance;
    await this.session.ensurePath(this.directory);
    await this.session.create(path, JSON.stringify({ ip, port: String(port), url: this.url, workerId }), 'ephemeral');
  }

  private async read(names: readonly string[]): Promise<ListedServer[]> {
    const servers = await Promise.all(
      names.map(async (instance) => {
        const node = await this.session.getData(`${this.directory}/${instance}`);
        return node === undefined ? [] : [{ instance, ...parse(node.data) }];
      }),
    );
    return servers.flat();
  }

  /** The names in ascending order. */
  private async names(): Promise<string[]> {
    try {
      return (await this.session.children(this.directory)).sort();
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
