import { startPostgres } from '../../support/postgres';
import { startPostgresPair } from '../../support/postgres-pair';
import { failoverContract } from './failover.contract';

failoverContract('PostgreSQL', {
  start: () => startPostgres(),
  startPair: (synchronous) => startPostgresPair({ synchronous }),
});
