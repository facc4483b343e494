import { startMariadb } from '../../support/mariadb';
import { startMariadbPair } from '../../support/mariadb-pair';
import { failoverContract } from './failover.contract';

failoverContract('MariaDB', { start: startMariadb, startPair: (semiSync) => startMariadbPair({ semiSync }) });
