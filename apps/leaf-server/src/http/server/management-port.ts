import type { AddressInfo, Socket } from 'node:net';
import { once } from 'node:events';
import type { ManagementAddress } from '../../config/leaf-config';
import type { RouteKind } from '../overload/route-kind';
import type { HttpServer } from './http-server';
import { BACKLOG } from './listen';

const PUBLIC: readonly RouteKind[] = ['id', 'probe', 'window', 'number'];

/**
 * A second port for operators. While it is on, the public port serves IDs, numbers, worker windows and probes only; this one serves every route.
 * Its connections have a limit of their own, so that probes and operators get through when the public port is full.
 */
export class ManagementPort {
  private readonly sockets = new WeakSet<Socket>();
  private server: HttpServer | undefined;
  private closed: Promise<unknown> | undefined;

  /** @param address undefined: disabled; the public port serves every route */
  constructor(private readonly address: ManagementAddress | undefined) {}

  get isOn(): boolean {
    return this.address !== undefined;
  }

  /** Whether routes of this kind are served on the port to which `socket` is connected. */
  serves(socket: Socket, kind: RouteKind): boolean {
    return !this.isOn || PUBLIC.includes(kind) || this.sockets.has(socket);
  }

  /** @param server what listens on this port */
  attach(server: HttpServer): void {
    this.server = server;
    server.on('connection', (socket: Socket) => this.sockets.add(socket));
  }

  /**
   * Rejects when the port cannot be used.
   *
   * @returns the address on which it listens; undefined when there is none
   */
  async listen(): Promise<AddressInfo | undefined> {
    const { server, address } = this;
    if (server === undefined || address === undefined) return undefined;
    server.listen({ ...address, backlog: BACKLOG });
    await once(server, 'listening');
    return server.address() as AddressInfo;
  }

  /** Begins to close it: requests in progress are still answered. */
  close(): void {
    const { server } = this;
    if (server?.listening !== true) return;
    this.closed = once(server, 'close');
    server.close();
  }

  /** Resolves when every connection is closed. */
  async whenClosed(): Promise<void> {
    await this.closed;
  }
}
