import { type SegmentStore, SystemClock } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import {
  createSegmentStore,
  DEFAULT_FAILOVER_GAP_STEPS,
  type LeafDataSource,
  openDatabase,
  parseDatabaseUrl,
} from '@leaf-ids/persistence';

const clock = new SystemClock();

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
