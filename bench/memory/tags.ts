import { Agent } from 'node:http';
import { join } from 'node:path';
import { loadSqlite } from '@leaf-ids/persistence';
import { requestIds } from '../http/request';
import { settledMiB, type Subject } from './subject';

const CONNECTIONS = 16;
const LIMIT_MS = 30_000;
/** After so many requests, V8 has collected their garbage by then. */
const REST_MS = 60_000;

/** Resident memory of a server with a number of tags. */
export interface TagReport {
  readonly tags: number;
  /** After startup, without requests. */
  readonly knownMiB: number;
  /** After `used` requests for a single tag: the memory that requests leave behind, independent of tags. */
  readonly oneTagMiB: number;
  /** After one request for each of `used` tags. Both are NaN if `used` is 0. */
  readonly usedMiB: number;
  readonly used: number;
}

/** @param used number of tags for which an ID is requested */
export async function measureTags(subject: Subject, tags: number, used: number): Promise<TagReport> {
  const folder = subject.folder();
  const env = { LEAF_DATA_DIR: folder, LEAF_SNOWFLAKE_ENABLED: 'false' };
  await (await subject.start(env)).stop();
  await insertTags(join(folder, 'leaf.sqlite'), tags);
  const server = await subject.start(env, '/health/ready');
  const knownMiB = await settledMiB(server);
  let [oneTagMiB, usedMiB] = [NaN, NaN];
  if (used > 0) {
    await takeIds(server.port, used, () => 0);
    oneTagMiB = await settledMiB(server, REST_MS);
    await takeIds(server.port, used, (request) => request);
    usedMiB = await settledMiB(server, REST_MS);
  }
  // SIGKILL, because a graceful shutdown returns the rest of every segment, which takes long.
  await server.kill();
  return { tags, knownMiB, oneTagMiB, usedMiB, used };
}

async function insertTags(file: string, count: number): Promise<void> {
  const Sqlite = await loadSqlite();
  const database = new Sqlite(file, { timeout: LIMIT_MS });
  database.exec(`INSERT INTO leaf_alloc (biz_tag, max_id, step)
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})
    SELECT printf('service-%06d-order', i), 1, 1000 FROM n`);
  database.close();
}

/** @param tagOf returns the tag of a request */
async function takeIds(port: number, count: number, tagOf: (request: number) => number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < count) {
      const tag = `service-${String(tagOf(next++)).padStart(6, '0')}-order`;
      await requestIds(port, `/api/segment/get/${tag}`, 1, agent);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, caller));
  agent.destroy();
}
