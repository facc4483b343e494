import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A wall that the chunks of one direction wait in front of. */
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
  /** Both ends of each connection, as long as one of them is open: `cut` has to reach half-open ones too. */
  private readonly pairs = new Set<Pair>();
  /** Those that stay dead, until the proxy stops. */
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

  /** Resets all connections; gives their number. New ones are not affected. */
  cut(): number {
    const pairs = [...this.pairs];
    for (const end of pairs.flat()) reset(end);
    return pairs.length;
  }

  /** New connections go to that port; those that are open stay where they are. */
  retarget(port: number): void {
    this.targetPort = port;
  }

  /** Resets all connections, and each new one at once. */
  refuse(): void {
    this.refusing = true;
    this.cut();
  }

  /**
   * Nothing passes any more, the end of a connection included; new connections are accepted and hang. What was sent
   * meanwhile arrives after `heal`, as with TCP. With `answers`, requests still reach the target.
   */
  blackhole(what: 'all' | 'answers' = 'all'): void {
    if (what === 'all') this.requests.close();
    this.answers.close();
  }

  /**
   * Nothing passes any more on the connections that are open now, for good: neither data nor their end, as when a
   * firewall has forgotten them. New ones pass. Gives their number.
   */
  loseConnections(): number {
    const lost = [...this.pairs];
    for (const pair of lost) this.dead.add(pair);
    this.pairs.clear();
    return lost.length;
  }

  /** Each chunk arrives that much later, in order. */
  delay(ms: number): void {
    this.delayMs = ms;
  }

  /** From now on all passes at once. */
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
    // Without a listener, a reset ends this process; `close` follows and tells the other end.
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

  /** Whatever happens to `from` happens to `to`, in order, once the delay is over and the gate is open. */
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

/** Node 20 loses a socket that is reset while its end is on the way: it stays open, and the process spins at its exit. */
function reset(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}
