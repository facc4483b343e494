import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../support/free-port';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';
import { serverEnv } from '../../support/servers/launch';

const CONNECTIONS = 32;
/** Requests of a round on each connection. */
const DEPTH = 30;
const ROUNDS = 30;

type ServerName = 'raw' | 'leaf' | 'rawResp' | 'leafResp';

/** Baselines have `raw` servers. */
export type Target = readonly [server: ServerName, request: string];

/** With LEAF_COST_BURDEN=1.3, a request to Leaf is 1.3 requests: see burden.mjs. */
const BURDEN = Number(process.env.LEAF_COST_BURDEN ?? 1);

/** The built server and a raw one in one process of their own, and what their requests cost it. */
export class ServersUnderTest {
  private constructor(
    private readonly child: ChildProcess,
    private readonly ports: Readonly<Record<Target[0], number>>,
    private readonly directory: string,
  ) {}

  static async start(): Promise<ServersUnderTest> {
    const directory = await makeDataDirectory();
    const resp = { LEAF_RESP_PORT: String(await freePort()) };
    const env = { PATH: process.env.PATH, ...serverEnv(directory), ...resp, LEAF_LOG_LEVEL: 'error' };
    const child = fork(join(__dirname, 'http-costs.mjs'), { env, execArgv: [] });
    const [ports] = (await once(child, 'message')) as [ServersUnderTest['ports']];
    return new ServersUnderTest(child, ports, directory);
  }

  /**
   * Microseconds of processor time that one request takes, of each target in the best of many rounds, all targets in
   * turn. Not of the clock on the wall: what others do on the machine takes time, and hardly adds to this one.
   */
  async measure<Name extends string>(targets: Readonly<Record<Name, Target>>): Promise<Record<Name, number>> {
    const names = Object.keys(targets) as Name[];
    const best = Object.fromEntries(names.map((name) => [name, Infinity])) as Record<Name, number>;
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of names) best[name] = Math.min(best[name], await this.costOf(targets[name]));
    }
    return best;
  }

  /** On new connections: a busy machine may leave others idle for longer than a server keeps them. */
  private async costOf([server, request]: Target): Promise<number> {
    const open = Array.from({ length: CONNECTIONS }, () => Client.open(this.ports[server], request));
    const clients = await Promise.all(open);
    const askAll = (): Promise<unknown> => Promise.all(clients.map((client) => client.ask()));
    await askAll();
    const before = await this.processorTime();
    const depth = server.startsWith('raw') ? DEPTH : DEPTH * BURDEN;
    for (let i = 0; i < depth; i++) await askAll();
    const spent = (await this.processorTime()) - before;
    for (const client of clients) client.end();
    return spent / (CONNECTIONS * DEPTH);
  }

  async end(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
    await removeDataDirectory(this.directory);
  }

  private async processorTime(): Promise<number> {
    const answer = once(this.child, 'message') as Promise<[number]>;
    this.child.send('how much?');
    return (await answer)[0];
  }
}

/** One request after the other on one connection; reads no more of an answer than it needs to. */
class Client {
  private missing = 0;
  private failure: Error | undefined;
  private done = (): void => undefined;

  private constructor(
    private readonly socket: Socket,
    private readonly request: string,
  ) {
    socket.setEncoding('latin1');
    socket.on('data', (part: string) => this.receive(part));
    socket.on('close', () => this.fail(new Error('The connection ended.')));
    socket.on('error', (error) => this.fail(error));
  }

  static async open(port: number, request: string): Promise<Client> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new Client(socket, request);
  }

  async ask(): Promise<void> {
    this.socket.write(this.request);
    await new Promise<void>((resolve) => (this.done = resolve));
    if (this.failure !== undefined) throw this.failure;
  }

  end(): void {
    this.socket.destroy();
  }

  /** The head of a response comes in one part, and so does an integer of RESP. */
  private receive(part: string): void {
    if (part.startsWith(':')) {
      this.done();
      return;
    }
    if (this.missing === 0) {
      const head = part.indexOf('\r\n\r\n') + 4;
      const length = /\r\ncontent-length: (\d+)\r\n/i.exec(part.slice(0, head))?.[1];
      if (!part.startsWith('HTTP/1.1 200 ') || length === undefined) {
        this.fail(new Error(part));
        return;
      }
      this.missing = head + Number(length);
    }
    this.missing -= part.length;
    if (this.missing === 0) this.done();
  }

  private fail(error: Error): void {
    this.failure ??= error;
    this.done();
  }
}
