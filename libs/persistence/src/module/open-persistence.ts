import { Logger } from '@nestjs/common';
import { SystemClock, systemRandom } from '@leaf/core';
import { createSegmentStore, createTagStore } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import { closeProblem } from './close-problem';
import { failoverOptions } from './failover-options';
import { lentTarget } from '../database/lent-database';
import { newDatabase } from '../database/new-database';
import { FIRST_TAG, openDatabase } from '../database/open-database';
import { Persistence } from './persistence';
import {
  type PersistenceModuleOptions,
  type SharedPersistenceOptions,
  type UrlPersistenceOptions,
} from './persistence.module-definition';
import { openSharded } from './open-sharded';

/**
 * Opens what the options name; nothing when there are none.
 *
 * @throws LeafError when it cannot be used
 */
export async function openPersistence(options: PersistenceModuleOptions | undefined): Promise<Persistence | undefined> {
  if (options === undefined) return undefined;
  if ('shards' in options) return openSharded(options);
  return openOne(options);
}

async function openOne(given: UrlPersistenceOptions | SharedPersistenceOptions): Promise<Persistence> {
  const { migrate, accept = [] } = given;
  const logger = new Logger('Persistence');
  const onRetry = (problem: string, waitMs: number): void => {
    logger.warn(`The database cannot be used yet, next try in ${Math.round(waitMs)} ms: ${problem}`);
  };
  const onCloseProblem = closeProblem(logger);
  // An application has tags of its own.
  const source =
    'dataSource' in given
      ? { target: lentTarget(given.dataSource) }
      : { target: parseDatabaseUrl(given.url), firstTag: FIRST_TAG };
  const onCreated = (): void => logger.log(newDatabase(source.target.description));
  const onAccepted = (problem: string): void => logger.warn(`Accepted: ${problem}`);
  const options = { ...source, migrate, accept, onAccepted, onCreated, onCloseProblem, onRetry };
  const database = await openDatabase(options, new SystemClock(), systemRandom);
  const segments = createSegmentStore(database, failoverOptions(given, logger));
  return new Persistence(segments, createTagStore(database), database.users, () => database.destroy());
}
