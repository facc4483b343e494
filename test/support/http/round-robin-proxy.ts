import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { call } from './http';
import { until } from '../until';

/** How servers are checked. */
export interface HealthChecks {
  readonly periodMs: number;
  /** Failed checks in a row after which a server gets no requests. */
  readonly failures: number;
}

const CHECKS: HealthChecks = { periodMs: 50, failures: 1 };

interface Upstream {
  readonly port: number;
  readonly checkedPort: number;
  readonly agent: Agent;
  healthy: boolean;
  failed: number;
  checking: boolean;
}

/**
 * A minimal load balancer: polls /health/ready of each server, and forwards requests round robin to the healthy servers
 * on keep-alive connections without retries. Failed requests get a 502 and are recorded.
 */
export class RoundRobinProxy {
  readonly failures: string[] = [];
  private readonly upstreams = new Map<number, Upstream>();
  private next = 0;

  private constructor(
    private readonly server: Server,
    private readonly timer: NodeJS.Timeout,
    private readonly maxFailures: number,
  ) {}

  static async start({ periodMs, failures }: HealthChecks = CHECKS): Promise<RoundRobinProxy> {
    const server = createServer((incoming, outgoing) => proxy.forward(incoming, outgoing));
    const timer = setInterval(() => proxy.checkAll(), periodMs);
    const proxy: RoundRobinProxy = new RoundRobinProxy(server, timer, failures);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Resolves when the server receives requests. */
  async add(port: number, checkedPort = port): Promise<void> {
    const agent = new Agent({ keepAlive: true });
    const upstream: Upstream = { port, checkedPort, agent, healthy: false, failed: 0, checking: false };
    this.upstreams.set(port, upstream);
    await until('a healthy server', () => upstream.healthy);
  }

  remove(port: number): void {
    this.upstreams.get(port)?.agent.destroy();
    this.upstreams.delete(port);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    for (const port of [...this.upstreams.keys()]) this.remove(port);
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private checkAll(): void {
    for (const upstream of this.upstreams.values()) {
      if (!upstream.checking) void this.check(upstream);
    }
  }

  private async check(upstream: Upstream): Promise<void> {
    upstream.checking = true;
    const isReady = await call(upstream.checkedPort, '/health/ready').then(
      ({ status }) => status === 200,
      () => false,
    );
    upstream.failed = isReady ? 0 : upstream.failed + 1;
    if (isReady) upstream.healthy = true;
    else if (upstream.failed >= this.maxFailures) upstream.healthy = false;
    upstream.checking = false;
  }

  private forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const healthy = [...this.upstreams.values()].filter((upstream) => upstream.healthy);
    const upstream = healthy[this.next++ % healthy.length];
    if (upstream === undefined) {
      this.fail(outgoing, 'no server is healthy');
      return;
    }
    const { port, agent } = upstream;
    const { method, url: path } = incoming;
    const forwarded = request({ host: '127.0.0.1', port, agent, method, path }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] });
      answer.pipe(outgoing);
      answer.on('error', (error) => this.fail(outgoing, error.message));
    });
    forwarded.on('error', (error) => this.fail(outgoing, `${port}: ${error.message}`));
    forwarded.end();
  }

  private fail(outgoing: ServerResponse, reason: string): void {
    this.failures.push(reason);
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(502).end();
  }
}
