import { type SegmentStore, SystemClock } from '@leaf-ids/core';
import { DEFAULT_SEGMENT_OPTIONS, SegmentIdGenerator, systemRandom } from '@leaf-ids/core/internal';
import {
  createSegmentStore,
  DEFAULT_FAILOVER_GAP_STEPS,
  type LeafDataSource,
  openDatabase,
  parseDatabaseUrl,
} from '@leaf-ids/persistence';

const clock = new SystemClock();
/** Rows per INSERT or DELETE. */
const CHUNK = 1000;

export interface Database {
  readonly dataSource: LeafDataSource;
  readonly store: SegmentStore;
}

/** A data source with all tables. */
export async function open(url: string): Promise<Database> {
  const target = parseDatabaseUrl(url);
  const onCloseProblem = (step: string, problem: string): void => console.error(`${step}: ${problem}`);
  const dataSource = await openDatabase({ target, migrate: true, onCloseProblem }, clock, systemRandom);
  const failover = { gapSteps: DEFAULT_FAILOVER_GAP_STEPS, onFailover: (message: string) => console.error(message) };
  return { dataSource, store: createSegmentStore(dataSource, failover) };
}

/** A generator with a fixed segment size. Background errors of the store end the benchmark. */
export function makeGenerator(
  store: SegmentStore,
  step: number,
  prefetchRatio = DEFAULT_SEGMENT_OPTIONS.prefetchRatio,
): SegmentIdGenerator {
  const fail = (error: unknown): never => {
    throw error;
  };
  return new SegmentIdGenerator(
    store,
    clock,
    systemRandom,
    { ...DEFAULT_SEGMENT_OPTIONS, prefetchRatio, maxStep: step },
    { onLoadFailed: (_, error) => fail(error), onRefreshFailed: fail },
  );
}

export async function insertTags({ dataSource }: Database, tags: readonly string[], step: number): Promise<void> {
  for (let first = 0; first < tags.length; first += CHUNK) {
    const chunk = tags.slice(first, first + CHUNK);
    const rows = chunk.map(() => '(?, 1, ?)').join(', ');
    const values = chunk.flatMap((tag) => [tag, step]);
    await dataSource.query(`INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ${rows}`, values);
  }
}

export async function deleteTags({ dataSource }: Database, tags: readonly string[]): Promise<void> {
  for (let first = 0; first < tags.length; first += CHUNK) {
    const chunk = tags.slice(first, first + CHUNK);
    await dataSource.query(`DELETE FROM leaf_alloc WHERE biz_tag IN (${chunk.map(() => '?').join(', ')})`, chunk);
  }
}
