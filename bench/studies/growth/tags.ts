import { Registry } from 'prom-client';
import { Leaf, registerLeafMetrics } from '@leaf-ids/id';
import { createSegmentStore, createTagStore, DEFAULT_FAILOVER_GAP_STEPS } from '@leaf-ids/persistence';
import { type Database, insertTags, makeGenerator, open } from '../segment/database';
import type { Growth } from './growth';

const STEP = 1000;
/** More tags than metrics have labels for; the others cost a scrape nothing. */
const MOST_USED = 2000;

/** What statements on a database have sent and received. */
interface SqlTraffic {
  statements: number;
  rows: number;
  /** Of the values as text. */
  bytes: number;
}

/** The cost of numbers of tags for one server. */
export async function tagGrowth(sizes: readonly number[]): Promise<Growth[]> {
  const measured: Record<string, number>[] = [];
  for (const tags of sizes) {
    console.error(`${tags} tags …`);
    measured.push(await measure(Array.from({ length: tags }, (_, n) => `service-${String(n).padStart(6, '0')}-order`)));
  }
  const [first = {}] = measured;
  return Object.keys(first).map((name) => ({ name, values: measured.map((one) => one[name] ?? NaN) }));
}

async function measure(tags: readonly string[]): Promise<Record<string, number>> {
  const database = await open('sqlite::memory:');
  await database.dataSource.query('DELETE FROM leaf_alloc');
  await insertTags(database, tags, STEP);
  const refresh = await refreshOf(database);
  const scraped = await scrapeOf(database, tags.slice(0, MOST_USED));
  await database.dataSource.destroy();
  return { ...refresh, 'bytes of one scrape of the metrics': scraped };
}

/** A refresh that finds all tags unchanged. */
async function refreshOf({ dataSource }: Database): Promise<Record<string, number>> {
  const traffic: SqlTraffic = { statements: 0, rows: 0, bytes: 0 };
  const access = counted(dataSource.access, traffic);
  const failover = { gapSteps: DEFAULT_FAILOVER_GAP_STEPS, onFailover: (message: string) => console.error(message) };
  const generator = makeGenerator(createSegmentStore({ access, target: dataSource.target }, failover), STEP);
  await generator.refresh.run();
  Object.assign(traffic, { statements: 0, rows: 0, bytes: 0 });
  await generator.refresh.run();
  await generator.close();
  const { statements, rows, bytes } = traffic;
  return {
    'statements of one refresh': statements,
    'rows of one refresh': rows,
    'bytes of one refresh': bytes,
  };
}

/** All other calls go to `database` itself. */
function counted(database: Database['dataSource']['access'], traffic: SqlTraffic): typeof database {
  const access = Object.create(database) as typeof database;
  access.run = async <Result>(...call: Parameters<typeof database.run>): Promise<Result> => {
    const rows = await database.run<Result>(...call);
    traffic.statements++;
    for (const row of rows as object[]) {
      traffic.rows++;
      traffic.bytes += Buffer.byteLength(Object.values(row).join(''));
    }
    return rows;
  };
  return access;
}

/** Bytes of the metrics of a runtime that has issued an ID of each of the `used` tags. */
async function scrapeOf({ dataSource, store }: Database, used: readonly string[]): Promise<number> {
  const leaf = new Leaf({ database: 'sqlite::memory:' }, { segments: store, tags: createTagStore(dataSource) });
  await leaf.init();
  for (const tag of used) await leaf.ids.nextId(tag);
  const registry = new Registry();
  await registerLeafMetrics(registry, leaf.ids);
  const bytes = Buffer.byteLength(await registry.metrics());
  await leaf.stop();
  return bytes;
}
