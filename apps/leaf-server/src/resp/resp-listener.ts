import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type ServerOpts, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, LeafError } from '@leaf-ids/core';
import { messageOf, systemRandom } from '@leaf-ids/core/internal';
import { EmbeddedIdService, Leaf } from '@leaf-ids/id';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig, RespTls } from '../config/leaf-config';
import { AccessLines } from '../http/access-log';
import { Connections } from '../http/overload/connections';
import { OverloadCounts } from '../http/overload/refusals';
import { IdleTimer } from '../connections/idle-timer';
import { STALL_MS } from '../connections/paced-connection';
import { RequestCounts } from '../http/request-counts';
import { BACKLOG } from '../http/server/listen';
import { Drain } from '../lifecycle/drain';
import { ClientAccess } from '../clients/client-access';
import { plainAddress } from '../tokens/client-network';
import { CommandTable, ConnectionState } from './command-table';
import { connectionCommands } from './connection-commands';
import { idCommands } from './id-commands';
import { type ConnectionParts, RespConnection } from './resp-connection';
import { TurnBudget } from './turn-budget';

/** Time limit of a TLS handshake, in milliseconds. */
const HANDSHAKE_MS = 10_000;
/** TCP keep-alive interval of silent clients, in milliseconds. */
const KEEP_ALIVE_MS = 60_000;
/** Time beyond the longest wait of a command in which clients read their replies at a stop, in milliseconds. */
const LAST_REPLIES_MS = 2000;

/** The port for clients of the Redis protocol. */
@Injectable()
export class RespListener implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly open = new Map<Socket, RespConnection>();
  private readonly connections: Connections;
  private readonly parts: ConnectionParts;
  private server: Server | undefined;
  private closed: Promise<unknown> | undefined;
  private lastId = 0;

  constructor(
    @Inject(LEAF_CONFIG) private readonly config: LeafConfig,
    clock: Clock,
    drain: Drain,
    counts: RequestCounts,
    overload: OverloadCounts,
    ids: EmbeddedIdService,
    leaf: Leaf,
    clients: ClientAccess,
  ) {
    const { http, accessLog } = config;
    const { maxConnections, maxInFlight } = http;
    this.connections = new Connections(maxConnections, clock, overload, this.isBusy);
    const commands = {
      ...connectionCommands({ clients, clock }),
      ...idCommands({ ids, leaf, clients, overload, maxInFlight }),
    };
    this.parts = {
      table: new CommandTable(commands, counts),
      counts,
      clock,
      timer: new IdleTimer(clock),
      budget: new TurnBudget(clock),
      stallMs: http.waitMs + STALL_MS,
      drain,
      lines: accessLog && new AccessLines({ config: accessLog, clock, random: systemRandom }),
    };
  }

  /**
   * @returns the port; undefined when there is none
   * @throws LeafError `LEAF_CONFIG_INVALID` if the certificate cannot be used; Error if the port cannot
   */
  async listen(): Promise<number | undefined> {
    const { resp } = this.config;
    if (resp === undefined) return undefined;
    const server = await createListener(resp.tls);
    this.connections.watch(server);
    server.on('connection', () => this.parts.budget.arrive());
    server.on(resp.tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => this.accept(socket));
    this.server = server;
    server.listen({ port: resp.port, host: resp.host, backlog: BACKLOG });
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** Begins to close: commands in progress are still answered, while HTTP closes as well. */
  beforeApplicationShutdown(): void {
    const { server } = this;
    if (server?.listening !== true) return;
    this.closed = once(server, 'close');
    server.close();
    const busy = (): ReadonlySet<Socket> => new Set([...this.open.keys()].filter(this.isBusy));
    void this.connections.end(busy, this.config.http.waitMs + LAST_REPLIES_MS);
  }

  /** Resolves when every connection is closed. */
  async onApplicationShutdown(): Promise<void> {
    await this.closed;
  }

  private readonly isBusy = (socket: Socket): boolean => this.open.get(socket)?.busy === true;

  private accept(socket: Socket): void {
    if (socket.destroyed) return;
    const surplus = this.connections.isSurplus(socket);
    const state = new ConnectionState(++this.lastId, plainAddress(socket.remoteAddress), surplus);
    this.open.set(socket, new RespConnection(socket, state, this.parts));
    socket.on('close', () => this.open.delete(socket));
  }
}

async function createListener(tls: RespTls | undefined): Promise<Server> {
  const options: ServerOpts = {
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
    // A client that sends no more may still read its replies.
    allowHalfOpen: true,
  };
  if (tls === undefined) return createServer(options);
  try {
    const [cert, key] = await Promise.all([readFile(tls.certFile), readFile(tls.keyFile)]);
    return createTlsServer({ ...options, cert, key, handshakeTimeout: HANDSHAKE_MS });
  } catch (error) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      `LEAF_RESP_TLS_CERT_FILE and LEAF_RESP_TLS_KEY_FILE must name a certificate and its key in PEM: ${messageOf(error)}.`,
      { cause: error },
    );
  }
}
