import { ensureBuilt } from '../support/build';
import { BuiltServers } from '../support/servers/built-server';
import { json } from '../support/http/http';

const servers = new BuiltServers();

beforeAll(ensureBuilt);
afterAll(() => servers.end());

it('a server elsewhere decodes for the bookmarks of the Java service in its own time zone', async () => {
  const { port } = await servers.start(await servers.makeDirectory(), { TZ: 'Asia/Shanghai' });
  expect(await json(port, '/decodeSnowflakeId?snowflakeId=1169786042799259000')).toEqual({
    timestamp: '1567733700834(2019-09-06 09:35:00.834)',
    sequenceId: '3448',
    workerId: '39',
  });
  expect(await json(port, '/api/snowflake/decode/1169786042799259000')).toMatchObject({
    time: '2019-09-06T01:35:00.834Z',
  });
});
