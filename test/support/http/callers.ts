import { Agent } from 'node:http';
import { call } from './http';

/** What callers got: the IDs of each path, and the responses other than 200. */
export interface Taken {
  readonly ids: ReadonlyMap<string, readonly string[]>;
  readonly failures: readonly string[];
}

/** Callers that take IDs over keep-alive connections, each from one path, without a pause. */
export class Callers {
  private readonly agent: Agent;
  private readonly ids: Map<string, string[]>;
  private readonly failures: string[] = [];
  private readonly running: Promise<unknown>;
  private stopped = false;

  constructor(
    private readonly port: number,
    paths: readonly string[],
    count: number,
  ) {
    this.agent = new Agent({ keepAlive: true, maxSockets: count });
    this.ids = new Map(paths.map((path) => [path, []]));
    this.running = Promise.all(Array.from({ length: count }, (_, index) => this.take(paths[index % paths.length]!)));
  }

  async stop(): Promise<Taken> {
    this.stopped = true;
    await this.running;
    this.agent.destroy();
    return { ids: this.ids, failures: this.failures };
  }

  private async take(path: string): Promise<void> {
    while (!this.stopped) {
      const { status, body } = await call(this.port, path, { agent: this.agent });
      if (status === 200) this.ids.get(path)!.push(body);
      else this.failures.push(`${status} ${body}`);
    }
  }
}
