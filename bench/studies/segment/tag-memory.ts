import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MariadbServer } from '../../../test/support/servers/mariadb';
import { formatTable, whole } from '../../report/table';
import { below, type Target } from '../../report/targets';
import { request } from '../../http/request';
import type { Sandbox } from '../../http/sandbox';
import { ServerProcess } from '../../http/server-process';
import { deleteTags, insertTags, open } from './database';
import { tagNames } from './tag-refresh';

const TAGS = 10_000;
const CHANGED = 1000;
const STEP = 1000;
const ONE_TAG = 'one';
const CONNECTIONS = 16;
const REFRESH_MS = 1000;
const SETTLE_MS = 2500;
const LIMIT_MIB = 200;

/** Resident memory of a built server, in MiB; undefined without /proc. */
export interface MemoryReport {
  /** With one tag, after the same number of requests: the memory that requests leave behind. */
  readonly oneTag: number | undefined;
  readonly started: number | undefined;
  /** After one ID per tag, so that each tag has a segment in memory. */
  readonly used: number | undefined;
  /** After some tags were removed and as many added. */
  readonly changed: number | undefined;
}

export async function measureMemory(mariadb: MariadbServer, sandbox: Sandbox, main: string): Promise<MemoryReport> {
  console.error('memory …');
  const url = await mariadb.createDatabase();
  const database = await open(url);
  await insertTags(database, [ONE_TAG], STEP);
  const small = await start(sandbox, main, url);
  await takeOneOfEach(small, new Array<string>(TAGS).fill(ONE_TAG));
  const oneTag = await settledMiB(small);
  await small.stop();

  await deleteTags(database, [ONE_TAG]);
  const tags = tagNames(0, TAGS);
  await insertTags(database, tags, STEP);
  const server = await start(sandbox, main, url);
  const started = await settledMiB(server);
  await takeOneOfEach(server, tags);
  const used = await settledMiB(server);
  await deleteTags(database, tags.slice(0, CHANGED));
  await insertTags(database, tagNames(TAGS, CHANGED), STEP);
  await sleep(REFRESH_MS);
  const changed = await settledMiB(server);
  await server.stop();
  await database.dataSource.destroy();
  return { oneTag, started, used, changed };
}

export function describeMemory({ oneTag, started, used, changed }: MemoryReport): string {
  const mebibytes = (value: number | undefined): string =>
    value === undefined ? 'unknown' : `${value.toFixed(0)} MiB`;
  const rows = [
    [`1 tag, ${whole(TAGS)} requests`, mebibytes(oneTag)],
    [`${whole(TAGS)} tags, no request`, mebibytes(started)],
    [`${whole(TAGS)} tags, one ID of each`, mebibytes(used)],
    [`then ${whole(CHANGED)} added and ${whole(CHANGED)} removed`, mebibytes(changed)],
  ];
  return formatTable(['built server', 'resident'], rows);
}

/** Target for the maximum of all states. */
export function memoryTarget({ started, used, changed }: MemoryReport): Target {
  const most = Math.max(...[started, used, changed].map((value) => value ?? NaN));
  return below(`resident with ${whole(TAGS)} tags`, most, LIMIT_MIB, 'MiB');
}

async function settledMiB(server: ServerProcess): Promise<number | undefined> {
  await sleep(SETTLE_MS);
  server.assertAlive();
  return server.residentMiB();
}

function start(sandbox: Sandbox, main: string, url: string): Promise<ServerProcess> {
  const settings = {
    LEAF_DATABASE_URL: url,
    LEAF_SNOWFLAKE_ENABLED: 'false',
    LEAF_SEGMENT_REFRESH_MS: String(REFRESH_MS),
  };
  const words = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  return ServerProcess.start(sandbox, {
    command: ['env', ...words, process.execPath, main],
    readyPath: '/health/ready',
  });
}

async function takeOneOfEach(server: ServerProcess, tags: readonly string[]): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const queue = tags.values();
  const caller = async (): Promise<void> => {
    for (const tag of queue) {
      const { status, text } = await request(server.port, `/api/segment/get/${tag}`, 10_000, agent);
      if (status !== 200 || !/^[1-9]\d*$/.test(text))
        throw new Error(`Request for tag ${tag} returned ${status} ${text}, expected an ID`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, caller));
  agent.destroy();
}
