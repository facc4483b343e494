import { Agent } from 'node:http';
import type { IdRange } from '@leaf-ids/core';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { call } from '../support/http/http';
import { givenTwice, runsOf } from '../support/issued-ids';
import { until } from '../support/until';

export const TAG = 'leaf-segment-test';
const CALLERS = 3;
const BATCH = 20;
/** A refused caller asks again after this, in milliseconds. */
const PAUSE_MS = 20;
/** A killed node of a cluster copies all data before it serves again. */
const RECOVERY_LIMIT_MS = 240_000;

const PATHS = {
  segment: [`/api/segment/get/${TAG}`, `/api/segment/batch/${TAG}?size=${BATCH}`],
  snowflake: ['/api/snowflake/get/order', `/api/snowflake/batch/order?size=${BATCH}`],
} as const;
type Mode = keyof typeof PATHS;

export interface LoadCount {
  /** IDs that were answered, of both modes. */
  readonly ids: number;
  readonly duplicates: number;
  /** Calls without an ID: refused, or the server was gone. */
  readonly refused: number;
}

/** Servers of the product, one for each URL, and callers that ask them for IDs of both modes all the time. */
export class FleetLoad {
  private readonly processes = new BuiltServers();
  private readonly servers: BuiltServer[] = [];
  private readonly given: Record<Mode, IdRange[]> = { segment: [], snowflake: [] };
  /** Answers by server and mode. */
  private readonly answers = new Map<string, number>();
  private readonly callers: Promise<void>[] = [];
  private refused = 0;
  private ending = false;

  private constructor(private readonly urls: readonly string[]) {}

  /** Resolves when every server answers. */
  static async start(urls: readonly string[]): Promise<FleetLoad> {
    const load = new FleetLoad(urls);
    try {
      for (const index of urls.keys()) await load.startServer(index);
      for (const index of urls.keys()) {
        for (let caller = 0; caller < CALLERS; caller++) {
          load.callers.push(load.ask(index, 'segment'), load.ask(index, 'snowflake'));
        }
      }
      await load.progress();
      return load;
    } catch (error) {
      await load.end();
      throw error;
    }
  }

  /** Resolves when every server has answered more calls of each mode. */
  async progress(calls = 200): Promise<void> {
    const keys = this.urls.flatMap((_, index) => [`segment ${index}`, `snowflake ${index}`]);
    const wanted = new Map(keys.map((key) => [key, (this.answers.get(key) ?? 0) + calls]));
    const done = (): boolean => keys.every((key) => (this.answers.get(key) ?? 0) >= (wanted.get(key) ?? 0));
    await until(`answers of ${keys.join(', ')}`, done, RECOVERY_LIMIT_MS).catch((error: unknown) => {
      const logs = this.servers.map(({ stdout, stderr }) => (stdout + stderr).slice(-1500));
      throw new Error(`${String(error)}\n${JSON.stringify([...this.answers])}\n${logs.join('\n')}`, { cause: error });
    });
  }

  /** What the server logged. */
  logOf(index: number): string {
    return `${this.servers[index]?.stdout ?? ''}${this.servers[index]?.stderr ?? ''}`;
  }

  /** SIGKILL for one server; another process on the same data directory follows it. */
  async killServer(index: number): Promise<void> {
    await this.servers[index]?.kill();
    await this.startServer(index);
  }

  /** Ends callers and servers, and counts. */
  async end(): Promise<LoadCount> {
    this.ending = true;
    await Promise.all(this.callers);
    await this.processes.end();
    const { segment, snowflake } = this.given;
    const ids = [...segment, ...snowflake].reduce((sum, { from, to }) => sum + Number(to - from) + 1, 0);
    return { ids, duplicates: givenTwice(segment).length + givenTwice(snowflake).length, refused: this.refused };
  }

  private async startServer(index: number): Promise<void> {
    const directory = this.servers[index]?.directory ?? (await this.processes.makeDirectory());
    this.servers[index] = await this.processes.start(directory, {
      LEAF_SNOWFLAKE_REPORT_MS: '200',
      LEAF_DATABASE_URL: this.urls[index],
      LEAF_SNOWFLAKE_REGISTRY: 'database',
      LEAF_SEGMENT_WAIT_MS: '1000',
      // Small ranges: the row of the tag changes often, on every node.
      LEAF_SEGMENT_MAX_STEP: '2000',
      LEAF_SEGMENT_DURATION_MS: '1000',
    });
  }

  private async ask(index: number, mode: Mode): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let turn = 0; !this.ending; turn++) {
      const ids = await this.idsOf(index, PATHS[mode][turn % 2] ?? '', agent);
      if (ids === undefined) {
        this.refused++;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        continue;
      }
      this.given[mode].push(...runsOf(ids));
      const key = `${mode} ${index}`;
      this.answers.set(key, (this.answers.get(key) ?? 0) + 1);
    }
    agent.destroy();
  }

  /** Undefined for a refusal, and while the server is gone. */
  private async idsOf(index: number, path: string, agent: Agent): Promise<bigint[] | undefined> {
    const server = this.servers[index];
    if (server?.running !== true) return undefined;
    const answer = await call(server.port, path, { agent }).catch(() => undefined);
    if (answer?.status !== 200) return undefined;
    const ids = path.includes('batch') ? (JSON.parse(answer.body) as { ids: string[] }).ids : [answer.body];
    return ids.map(BigInt);
  }
}
