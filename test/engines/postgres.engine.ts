import { postgres18 } from '../support/engines/postgres-18';
import { startPostgres } from '../support/postgres';
import { engineSuite } from './engine-suite';
import { singleServer } from './single-server';

engineSuite({
  name: 'PostgreSQL',
  start: async () => singleServer(await startPostgres(await postgres18())),
  disturbances: [{ name: 'kill -9 and restart of the database', disturb: ({ server }) => server.restart() }],
});
