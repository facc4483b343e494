import { startPostgres } from '../../support/servers/postgres';
import { startPostgresPair } from '../../support/servers/postgres-pair';
import { failoverContract } from './failover.contract';

failoverContract('PostgreSQL', {
  start: () => startPostgres(),
  startPair: (synchronous) => startPostgresPair({ synchronous }),
});
