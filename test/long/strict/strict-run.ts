import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect } from '../../support/contract/sql-stores';
import { startMariadbPair } from '../../support/servers/mariadb-pair';
import { startPostgresPair } from '../../support/servers/postgres-pair';
import { type BuiltServer, BuiltServers } from '../../support/servers/built-server';
import type { DatabasePair } from '../../support/servers/database-pair';
import { freePort } from '../../support/free-port';
import { guarded } from '../../support/servers/private-server';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';
import { checkTraces, type TraceCheck } from '../../support/step-traces';
import { Record, runCallers, TAG } from './callers';
import { check, type Verdict } from './checker';
import { writeHistory } from './history-file';

export const DATABASES = {
  postgres: (): Promise<DatabasePair> => startPostgresPair({ synchronous: false }),
  mariadb: (): Promise<DatabasePair> => startMariadbPair({ semiSync: false }),
};

export interface StrictOptions {
  readonly database: keyof typeof DATABASES;
  /** Answered calls at least; the run ends when there are as many, and each fault was there once. */
  readonly operations: number;
  /** The built `main.js` of the server. */
  readonly serverFile: string;
  /** Where to write the history of all calls; nowhere if left out. */
  readonly historyFile?: string | undefined;
  readonly say: (line: string) => void;
}

export interface StrictOutcome extends Verdict {
  readonly operations: number;
  readonly ids: number;
  readonly kills: number;
  readonly failovers: number;
  /** IDs that were given and that a promoted replica knew nothing of. */
  readonly lost: number;
  readonly seconds: number;
  /** Calls that gave no ID, by code. */
  readonly refusals: ReadonlyMap<string, number>;
  /** Answers that are neither IDs nor a refusal with a code. */
  readonly faults: readonly string[];
  /** Whether the ranges of the servers are behaviours of the model. */
  readonly traces: TraceCheck;
}

const SERVERS = 3;
/**
 * The step of a strict tag is the measure of the gap after a failover: ten times as many IDs may be lost. The replica
 * lags by seconds here, at tens of thousands of IDs a second.
 */
const STEP = 1_000_000;
const CALM_MS = 1500;
/** After each so many kills of a server the database fails over. */
const KILLS_PER_FAILOVER = 3;
/** Answered calls that a promoted replica knows nothing of, at least. */
const LOST_CALLS = 50;

/** Three servers, twelve callers and a pair of databases, whose faults follow each other for as long as it takes. */
export async function runStrict(options: StrictOptions): Promise<StrictOutcome> {
  const { database, operations, serverFile, historyFile, say } = options;
  const opened: (() => Promise<unknown>)[] = [];
  const steps = await mkdtemp(join(tmpdir(), 'leaf-steps-'));
  opened.push(() => rm(steps, { recursive: true, force: true }));
  try {
    const pair = await DATABASES[database]();
    opened.push(() => pair.stop());
    const world = await StrictWorld.make(pair, serverFile, steps, opened);
    const record = new Record();
    const began = performance.now();
    const callers = runCallers(record, world.ports);
    let kills = 0;
    while (kills < KILLS_PER_FAILOVER || record.operations.length < operations) {
      await sleep(CALM_MS);
      await world.killServer(kills++);
      if (kills % KILLS_PER_FAILOVER === 0) await world.failOver(record);
      say(
        `${record.operations.length} operations, ${kills} kills, ${world.failovers} failovers, ${world.lost} IDs lost`,
      );
    }
    await world.serving(record);
    record.endAt(record.operations.length);
    await callers;
    const { failovers, lost } = world;
    const seconds = (performance.now() - began) / 1000;
    const ids = record.operations.reduce((sum, { from, to, ids }) => sum + (ids?.length ?? to - from + 1), 0);
    const count = record.operations.length;
    const { unknown, refusals, faults } = record;
    if (historyFile !== undefined)
      await writeHistory(historyFile, { tag: TAG, operations: record.operations, unknown });
    const traces = await checkTraces(steps);
    const counts = { operations: count, ids, kills, failovers, lost, seconds };
    return { ...check(record.operations), ...counts, refusals, faults, traces };
  } finally {
    for (const close of opened.reverse()) await close();
  }
}

interface Server {
  readonly env: NodeJS.ProcessEnv;
  process: BuiltServer;
}

class StrictWorld {
  failovers = 0;
  lost = 0;

  private constructor(
    private readonly pair: DatabasePair,
    private readonly proxy: TcpProxy,
    private readonly fleet: BuiltServers,
    private readonly servers: Server[],
    private readonly url: string,
  ) {}

  static async make(
    pair: DatabasePair,
    serverFile: string,
    steps: string,
    opened: (() => Promise<unknown>)[],
  ): Promise<StrictWorld> {
    const url = await pair.primary.createDatabase();
    const dataSource = await connect(parseDatabaseUrl(url));
    await dataSource.query(
      `INSERT INTO leaf_alloc (biz_tag, max_id, step, ordering) VALUES ('${TAG}', 1, ${STEP}, 'strict')`,
    );
    await dataSource.destroy();
    const proxy = await TcpProxy.start(pair.primary.port);
    opened.push(() => proxy.stop());
    const fleet = new BuiltServers(await guarded([process.execPath, serverFile]));
    opened.push(() => fleet.end());
    const servers: Server[] = [];
    for (let n = 0; n < SERVERS; n++) {
      const env = {
        LEAF_PORT: String(await freePort()),
        LEAF_DATABASE_URL: url.replace(/:\d+\//, `:${proxy.port}/`),
        LEAF_SNOWFLAKE_ENABLED: 'false',
        LEAF_SEGMENT_WAIT_MS: '1000',
        LEAF_STEP_LOG: steps,
      };
      servers.push({ env, process: await fleet.start(await fleet.makeDirectory(), env) });
    }
    return new StrictWorld(pair, proxy, fleet, servers, url);
  }

  get ports(): number[] {
    return this.servers.map(({ process }) => process.port);
  }

  /** `kill -9`, and a new process on the same port and data. */
  async killServer(turn: number): Promise<void> {
    const server = this.servers[turn % SERVERS]!;
    await server.process.kill();
    server.process = await this.fleet.start(server.process.directory, server.env);
  }

  /** The primary dies with updates that its replica never gets, and the replica takes its place. */
  async failOver(record: Record): Promise<void> {
    await this.serving(record);
    await this.pair.waitForReplica();
    await this.pair.stopReplication();
    const known = await this.nextId(this.pair.primary.port);
    await this.serving(record, LOST_CALLS);
    await this.pair.primary.kill();
    await this.pair.promote();
    const next = await this.nextId(this.pair.primary.port);
    if (next > known) throw new Error('the replica went on after its replication had ended');
    const highest = record.operations.reduce((most, { to }) => Math.max(most, to), 0);
    this.lost += Math.max(0, highest - next + 1);
    this.proxy.retarget(this.pair.primary.port);
    this.failovers++;
    await this.serving(record);
    await this.pair.rejoin();
  }

  /** Resolves when so many more calls have been answered. */
  async serving(record: Record, calls = 1): Promise<void> {
    const wanted = record.operations.length + calls;
    await until('answers', () => record.operations.length >= wanted);
  }

  private async nextId(port: number): Promise<number> {
    const dataSource = await connect(parseDatabaseUrl(this.url.replace(/:\d+\//, `:${port}/`)), false);
    const [row] = await dataSource.query<{ max_id: string }[]>(
      `SELECT max_id FROM leaf_alloc WHERE biz_tag = '${TAG}'`,
    );
    await dataSource.destroy();
    return Number(row?.max_id);
  }
}
