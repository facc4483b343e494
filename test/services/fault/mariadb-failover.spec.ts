import { startMariadb } from '../../support/servers/mariadb';
import { startMariadbPair } from '../../support/servers/mariadb-pair';
import { failoverContract } from './failover.contract';

failoverContract('MariaDB', { start: startMariadb, startPair: (semiSync) => startMariadbPair({ semiSync }) });
