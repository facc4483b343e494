import { failoverContract } from '../services/fault/failover.contract';
import { postgres18 } from '../support/servers/engines/postgres-18';
import { startPostgres } from '../support/servers/postgres';
import { startPostgresPair } from '../support/servers/postgres-pair';
import { engineSuite } from './engine-suite';
import { singleServer } from './single-server';

engineSuite({
  name: 'PostgreSQL, alone and as a pair',
  start: async () => singleServer(await startPostgres(await postgres18())),
  disturbances: [{ name: 'kill -9 and restart of the database', disturb: ({ server }) => server.restart() }],
});

failoverContract('PostgreSQL', {
  start: async () => startPostgres(await postgres18()),
  startPair: async (synchronous) => startPostgresPair({ synchronous, programs: await postgres18() }),
});
