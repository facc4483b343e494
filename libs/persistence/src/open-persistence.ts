import { Logger } from '@nestjs/common';
import { Releasers, SystemClock, systemRandom } from '@leaf/core';
import { createSegmentStore, createTagStore } from './create-store';
import { parseDatabaseUrl } from './database-url';
import { failoverOptions } from './failover/failover-options';
import { newDatabase } from './new-database';
import { FIRST_TAG, openDatabase } from './open-database';
import { Persistence } from './persistence';
import {
  type PersistenceModuleOptions,
  type SharedPersistenceOptions,
  type UrlPersistenceOptions,
} from './persistence.module-definition';
import { openSharded } from './sharding/open-sharded';
import { SharedDatabase } from './shared-database';

/**
 * Opens what the options name; nothing when there are none.
 *
 * @throws LeafError when it cannot be used
 */
export async function openPersistence(options: PersistenceModuleOptions | undefined): Promise<Persistence | undefined> {
  if (options === undefined) return undefined;
  if ('shards' in options) return openSharded(options);
  return 'dataSource' in options ? openShared(options) : openUrl(options);
}

async function openUrl(given: UrlPersistenceOptions): Promise<Persistence> {
  const logger = new Logger('Persistence');
  const onRetry = (problem: string, waitMs: number): void => {
    logger.warn(`The database cannot be used yet, next try in ${Math.round(waitMs)} ms: ${problem}`);
  };
  const onCloseProblem = closeProblem(logger);
  const target = parseDatabaseUrl(given.url);
  const onCreated = (): void => logger.log(newDatabase(target.description));
  const { migrate } = given;
  const options = { target, migrate, firstTag: FIRST_TAG, onCreated, onCloseProblem, onRetry };
  const database = await openDatabase(options, new SystemClock(), systemRandom);
  const segments = createSegmentStore(database, failoverOptions(given, logger));
  return new Persistence(segments, createTagStore(database), database.users, () => database.destroy());
}

async function openShared(given: SharedPersistenceOptions): Promise<Persistence> {
  const logger = new Logger('Persistence');
  const clock = new SystemClock();
  const database = await new SharedDatabase(given.dataSource, given.migrate, clock, systemRandom).open();
  const segments = createSegmentStore(database, failoverOptions(given, logger));
  const users = new Releasers(clock, closeProblem(logger));
  return new Persistence(segments, createTagStore(database), users, () => database.close());
}

function closeProblem(logger: Logger): (step: string, problem: string) => void {
  return (step, problem) => logger.error(`Stop: ${step}: ${problem}`);
}
