import { Agent } from 'node:http';
import { join } from 'node:path';
import { loadSqlite } from '@leaf/persistence';
import { request } from '../http/request';
import type { Subject } from './server-memory';
import { settledMiB } from './server-memory';

const CONNECTIONS = 16;
const LIMIT_MS = 30_000;

/** Resident memory of a server with so many tags. */
export interface TagReport {
  readonly tags: number;
  /** Known from the start, and never asked for. */
  readonly knownMiB: number;
  /** After each gave an ID, at two counts of requests: the first few tags, then all of them. */
  readonly usedMiB: readonly { readonly used: number; readonly resident: number }[];
}

/** @param used how many tags have given an ID when memory is read */
export async function measureTags(subject: Subject, tags: number, used: readonly number[]): Promise<TagReport> {
  const folder = subject.folder();
  const env = { LEAF_DATA_DIR: folder, LEAF_SNOWFLAKE_ENABLED: 'false' };
  await (await subject.start(env)).stop();
  await insertTags(join(folder, 'leaf.sqlite'), tags);
  const server = await subject.start(env, '/health/ready');
  const knownMiB = await settledMiB(server);
  const usedMiB: { used: number; resident: number }[] = [];
  let next = 0;
  for (const count of used) {
    await takeOneOfEach(server.port, next, count);
    usedMiB.push({ used: count, resident: await settledMiB(server) });
    next = count;
  }
  // What is left of 100,000 segments is not worth the wait for it to be given back.
  await server.kill();
  return { tags, knownMiB, usedMiB };
}

async function insertTags(file: string, count: number): Promise<void> {
  const Sqlite = await loadSqlite();
  const database = new Sqlite(file, { timeout: LIMIT_MS });
  database.exec(`INSERT INTO leaf_alloc (biz_tag, max_id, step)
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})
    SELECT printf('service-%06d-order', i), 1, 1000 FROM n`);
  database.close();
}

/** One ID of each tag from `first` to below `end`. */
async function takeOneOfEach(port: number, first: number, end: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let next = first;
  const caller = async (): Promise<void> => {
    while (next < end) {
      const tag = `service-${String(next++).padStart(6, '0')}-order`;
      const { status, text } = await request(port, `/api/segment/get/${tag}`, LIMIT_MS, agent);
      if (status !== 200 || text !== '1') throw new Error(`The first ID of ${tag} came as ${status} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, caller));
  agent.destroy();
}
