import { startMariadb } from '../../support/mariadb';
import { startMariadbPair } from '../../support/mariadb-pair';
import { startPostgres } from '../../support/postgres';
import { startPostgresPair } from '../../support/postgres-pair';
import { failoverContract } from './failover.contract';

failoverContract('MariaDB', { start: startMariadb, startPair: (semiSync) => startMariadbPair({ semiSync }) });
failoverContract('PostgreSQL', {
  start: () => startPostgres(),
  startPair: (synchronous) => startPostgresPair({ synchronous }),
});
