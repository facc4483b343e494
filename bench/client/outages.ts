import { LeafClient } from '@leaf-ids/client/plain';
import type { Cores } from '../http/cores';
import type { Sandbox } from '../http/sandbox';
import { ServerProcess } from '../http/server-process';
import { decimals, formatTable, whole } from '../../test/support/table';
import type { LatencyFigures } from '../load/latencies';
import { Observed, offer } from '../load/offered-load';
import { TAG } from './contenders';

/** Calls per second. */
const RATE = 20_000;
/** How long prefetched IDs last: short, so that the client sends requests often enough to meet dead servers. */
const DURATION_MS = 500;
export const P99_LIMIT_MS = 0.1;

interface Row {
  readonly name: string;
  readonly kills: number;
  readonly loads: number;
  readonly refused: number;
  readonly duplicates: number;
  readonly calls: LatencyFigures;
  readonly due: LatencyFigures;
}

export type OutageReport = readonly Row[];

/** Three servers on one database, and one client that uses all of them. */
class Fleet {
  kills = 0;

  private constructor(
    private readonly start: (index: number, port?: number) => Promise<ServerProcess>,
    private readonly servers: ServerProcess[],
    readonly client: LeafClient,
  ) {}

  static async open(sandbox: Sandbox, cores: Cores, command: readonly string[], databaseUrl: string): Promise<Fleet> {
    const start = (index: number, port?: number): Promise<ServerProcess> =>
      ServerProcess.start(sandbox, {
        command: cores.server(command),
        readyPath: '/health/startup',
        ...(port === undefined ? {} : { port }),
        env: {
          LEAF_DATABASE_URL: databaseUrl,
          LEAF_SNOWFLAKE_REGISTRY: 'mysql',
          LEAF_ADVERTISE_HOST: '127.0.0.1',
          LEAF_ADVERTISE_PORT: String(8080 + index),
        },
      });
    const servers: ServerProcess[] = [];
    for (let index = 0; index < 3; index++) servers.push(await start(index));
    const client = new LeafClient({
      servers: servers.map(({ port }) => `http://127.0.0.1:${port}`),
      segment: { durationMs: DURATION_MS },
      preload: { tags: [TAG] },
    });
    await client.ready();
    return new Fleet(start, servers, client);
  }

  /** Kills and restarts one server after the other until `isOver`. */
  async killInTurn(isOver: () => boolean): Promise<void> {
    for (let index = 0; !isOver(); index = (index + 1) % this.servers.length) {
      const { port } = this.servers[index]!;
      await this.servers[index]!.kill();
      this.kills++;
      this.servers[index] = await this.start(index, port);
    }
  }

  async close(): Promise<void> {
    await this.client.close();
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}

/** Latency of calls while all servers are up, and while servers are killed and restarted in turn. */
export async function measureOutages(
  sandbox: Sandbox,
  cores: Cores,
  command: readonly string[],
  databaseUrl: string,
  phaseMs: number,
): Promise<OutageReport> {
  const fleet = await Fleet.open(sandbox, cores, command, databaseUrl);
  try {
    await observe('warm-up', fleet, phaseMs / 4, false);
    return [
      await observe('all servers up', fleet, phaseMs, false),
      await observe('killed in turn', fleet, phaseMs * 2, true),
    ];
  } finally {
    await fleet.close();
  }
}

async function observe(name: string, fleet: Fleet, ms: number, killing: boolean): Promise<Row> {
  console.error(`calls, ${name} …`);
  const { client } = fleet;
  const observed = new Observed();
  // Preallocated and sorted afterwards, because a growing Set would block the event loop.
  const ids = new BigInt64Array(Math.ceil((RATE * ms) / 1000) + 1);
  let count = 0;
  const next = async (): Promise<bigint> => {
    const id = await client.nextId(TAG);
    ids[count++] = id;
    return id;
  };
  const before = { kills: fleet.kills, loads: loadsOf(client) };
  let over = false;
  const kills = killing ? fleet.killInTurn(() => over) : Promise.resolve();
  await offer(next, RATE, ms, observed);
  over = true;
  const row = { loads: loadsOf(client) - before.loads, calls: observed.calls.figures(), due: observed.due.figures() };
  await kills;
  const sorted = ids.subarray(0, count).sort();
  const duplicates = sorted.reduce((sum, id, index) => sum + (index > 0 && id === sorted[index - 1] ? 1 : 0), 0);
  return { name, kills: fleet.kills - before.kills, refused: observed.refused, duplicates, ...row };
}

function loadsOf(client: LeafClient): number {
  return client.snapshot().tags[0]!.loads;
}

export function describeOutages(rows: OutageReport): string {
  const header = ['', 'calls', 'requests', 'kills', 'p50 ms', 'p99 ms', 'p99.9 ms', 'max ms', 'due: p99 ms', 'refused'];
  const table = rows.map(({ name, calls, due, loads, kills, refused }) => [
    name,
    ...[calls.count, loads, kills].map(whole),
    ...[calls.p50, calls.p99, calls.p999, calls.max, due.p99].map((ms) => decimals(ms, 4)),
    whole(refused),
  ]);
  return [
    `${whole(RATE)} nextId calls per second; prefetched IDs last ${DURATION_MS} ms to four times that`,
    formatTable(header, table),
  ].join('\n');
}

/** Errors that never occur with a correct client, even on a slow machine. */
export function outageFaults(rows: OutageReport): string[] {
  return rows.flatMap(({ name, duplicates, refused }) => [
    ...(duplicates > 0 ? [`${name}: ${duplicates} duplicates`] : []),
    ...(refused > 0 ? [`${name}: ${refused} calls refused`] : []),
  ]);
}
