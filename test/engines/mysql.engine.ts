import { startMysql } from '../support/engines/mysql';
import { engineSuite } from './engine-suite';
import { singleServer } from './single-server';

engineSuite({
  name: 'MySQL',
  start: async () => singleServer(await startMysql()),
  disturbances: [{ name: 'kill -9 and restart of the database', disturb: ({ server }) => server.restart() }],
});
