import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A gate that delays the chunks of one direction. */
class Gate {
  private opened: Promise<void> = Promise.resolve();
  private release: (() => void) | undefined;

  close(): void {
    if (this.release === undefined) this.opened = new Promise((resolve) => (this.release = resolve));
  }

  open(): void {
    this.release?.();
    this.release = undefined;
  }

  async passed(): Promise<void> {
    while (this.release !== undefined) await this.opened;
  }
}

type Pair = readonly [Socket, Socket];

/** A TCP proxy for a local port that injects network faults. */
export class TcpProxy {
  /** Both sockets of each connection while one of them is open, because `cut` also resets half-open connections. */
  private readonly pairs = new Set<Pair>();
  /** Connections that stay blocked until the proxy stops. */
  private readonly dead = new Set<Pair>();
  private readonly requests = new Gate();
  private readonly answers = new Gate();
  private refusing = false;
  private delayMs = 0;

  private constructor(
    private readonly server: Server,
    private targetPort: number,
    private readonly targetHost: string,
  ) {
    server.on('connection', (client: Socket) => this.accept(client));
  }

  static async start(targetPort: number, targetHost = '127.0.0.1'): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    const proxy = new TcpProxy(server, targetPort, targetHost);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Resets all connections and returns their number. New connections are not affected. */
  cut(): number {
    const pairs = [...this.pairs];
    for (const end of pairs.flat()) reset(end);
    return pairs.length;
  }

  /** Forwards new connections to another port; open connections are not affected. */
  retarget(port: number): void {
    this.targetPort = port;
  }

  /** Resets all connections, and new ones immediately. */
  refuse(): void {
    this.refusing = true;
    this.cut();
  }

  /**
   * Blocks all data and FINs; new connections are accepted and hang. Data sent in the meantime arrives after `heal`, as
   * with TCP. With `answers`, only responses are blocked.
   */
  blackhole(what: 'all' | 'answers' = 'all'): void {
    if (what === 'all') this.requests.close();
    this.answers.close();
  }

  /**
   * Permanently blocks data and FINs of the open connections, as when a firewall drops their state, and returns their
   * number. New connections are not affected.
   */
  loseConnections(): number {
    const lost = [...this.pairs];
    for (const pair of lost) this.dead.add(pair);
    this.pairs.clear();
    return lost.length;
  }

  /** Delays each chunk and preserves the order. */
  delay(ms: number): void {
    this.delayMs = ms;
  }

  /** Removes all faults and delays. */
  heal(): void {
    this.refusing = false;
    this.delayMs = 0;
    this.requests.open();
    this.answers.open();
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.refuse();
    for (const end of [...this.dead].flat()) end.destroy();
    this.requests.open();
    this.answers.open();
    await closed;
  }

  private accept(client: Socket): void {
    // Without a listener, a reset crashes this process; the `close` event then closes the other end.
    client.on('error', () => undefined);
    if (this.refusing) {
      reset(client);
      return;
    }
    const target = connect({ port: this.targetPort, host: this.targetHost, allowHalfOpen: true, noDelay: true });
    target.on('error', () => undefined);
    const pair: Pair = [client, target];
    this.pairs.add(pair);
    const forget = (): void => {
      if (client.closed && target.closed) this.pairs.delete(pair);
    };
    const isDead = (): boolean => this.dead.has(pair);
    this.forward(client, target, this.requests, isDead);
    this.forward(target, client, this.answers, isDead);
    client.on('close', forget);
    target.on('close', forget);
  }

  /** Forwards data and FIN from `from` to `to` in order, after the delay and when the gate is open. */
  private forward(from: Socket, to: Socket, gate: Gate, isDead: () => boolean): void {
    let line = Promise.resolve();
    const later = (act: () => void): void => {
      const due = performance.now() + this.delayMs;
      line = line.then(async () => {
        const left = due - performance.now();
        if (left > 0) await sleep(left);
        await gate.passed();
        if (!to.destroyed && !isDead()) act();
      });
    };
    from.on('data', (chunk) => later(() => void to.write(chunk)));
    from.on('end', () => later(() => void to.end()));
    from.on('close', (failed) => later(() => (failed ? reset(to) : to.destroy())));
  }
}

/** In Node 20, a socket that is reset during end() stays open, and the process spins at its exit. */
function reset(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}
