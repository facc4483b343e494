import { failoverContract } from '../services/fault/failover.contract';
import { startMysql } from '../support/servers/engines/mysql';
import { startMysqlPair } from '../support/servers/engines/mysql-pair';
import { engineSuite } from './engine-suite';
import { singleServer } from './single-server';

engineSuite({
  name: 'MySQL, alone and as a pair with GTIDs',
  start: async () => singleServer(await startMysql()),
  disturbances: [{ name: 'kill -9 and restart of the database', disturb: ({ server }) => server.restart() }],
});

failoverContract('MySQL', { start: startMysql, startPair: (semiSync) => startMysqlPair({ semiSync }) });
