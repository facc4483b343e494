import type { OverviewView, PartView, SnowflakeView } from '../../../apps/leaf-server/src/monitor/views/views';
import { EventReader } from '../../support/http/event-reader';
import { call, json, text } from '../../support/http/http';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { problemCode } from '../../support/http/problem';
import { settle } from '../../support/servers/server-registries';
import { startTestServer, type TestServer } from '../../support/servers/server';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';

const PASSWORD = 'p4ss/word@never:shown';
const PATHS = ['/api/monitor/overview', '/api/monitor/segments', '/api/monitor/snowflake', '/cache', '/db'];

interface MonitoredServer {
  readonly database: MariadbServer;
  readonly proxy: TcpProxy;
}

const FAULTS = [
  {
    name: 'is blackholed',
    begin: ({ proxy }: MonitoredServer) => proxy.blackhole(),
    end: ({ proxy }: MonitoredServer) => proxy.heal(),
  },
  {
    name: 'is killed',
    begin: ({ database }: MonitoredServer) => database.kill(),
    end: ({ database }: MonitoredServer) => database.restart(),
  },
] as const;

describe('the monitor while the database is away', () => {
  let database: MariadbServer;
  let proxy: TcpProxy;
  let env: NodeJS.ProcessEnv;
  const opened: (() => unknown)[] = [];

  beforeAll(async () => {
    database = await startMariadb();
    await database.query(`CREATE USER leaf IDENTIFIED BY '${PASSWORD}'; GRANT ALL ON *.* TO leaf`);
  });
  afterAll(() => database.stop());

  beforeEach(async () => {
    proxy = await TcpProxy.start(database.port);
    opened.push(() => proxy.stop());
    const url = await database.createDatabase();
    await settle({ strategy: 'mysql', url, migrate: true });
    const { pathname } = new URL(url);
    env = {
      LEAF_DATABASE_URL: `mysql://leaf:${encodeURIComponent(PASSWORD)}@127.0.0.1:${proxy.port}${pathname}`,
      LEAF_SNOWFLAKE_REGISTRY: 'mysql',
      LEAF_SNOWFLAKE_OFFLINE: 'local_file',
      LEAF_ADVERTISE_HOST: '10.0.0.1',
      LEAF_ADVERTISE_PORT: '8081',
    };
  });

  afterEach(async () => {
    for (let close = opened.pop(); close !== undefined; close = opened.pop()) await close();
  });

  async function start(more: NodeJS.ProcessEnv = {}): Promise<TestServer> {
    const server = await startTestServer({ ...env, ...more });
    opened.push(() => server.stop());
    return server;
  }

  async function read(server: TestServer): Promise<EventReader> {
    const reader = await EventReader.open(server.port, '/api/monitor/stream');
    opened.push(() => reader.close());
    return reader;
  }

  const partOf = ({ parts }: OverviewView, name: PartView['name']): PartView =>
    parts.find((part) => part.name === name)!;

  /** In both ways of watching; no tag needs a segment, and no refresh is due. */
  async function shown(server: TestServer, reader: EventReader, status: PartView['status']): Promise<OverviewView> {
    const from = reader.events.length;
    const fits = (overview: OverviewView): boolean => partOf(overview, 'database').status === status;
    await until(`the database ${status}`, async () => fits(await json(server.port, '/api/monitor/overview')));
    return reader.next('overview', fits, from);
  }

  it.each(FAULTS)('says so when the database $name, and when it is back, and no secret', async ({ begin, end }) => {
    const server = await start();
    const reader = await read(server);
    const up = await reader.next<OverviewView>('overview');
    expect(partOf(up, 'database').description).toMatch(/^mysql:\/\/127\.0\.0\.1:\d+\/leaf_\w+$/);
    expect(await text(server.port, '/api/segment/get/leaf-segment-test')).toBe('1');

    await begin({ database, proxy });
    const down = await shown(server, reader, 'down');
    expect(partOf(down, 'database').reason).toMatch(/\S/);
    const withoutTime = (part: 'segment' | 'database'): string | undefined =>
      partOf(down, part).reason?.replace(/\d+ ms/, '');
    expect(partOf(down, 'segment').status).toBe('degraded');
    expect(down).toMatchObject({ state: 'degraded', reason: expect.any(String) as string });
    expect(withoutTime('segment')).toBe(withoutTime('database'));
    expect(await text(server.port, '/api/segment/get/leaf-segment-test')).toBe('2');
    const said = [JSON.stringify(reader.events)];
    for (const path of PATHS) said.push((await call(server.port, path)).body);
    expect(problemCode(await call(server.port, '/db'))).toBe('LEAF_STORE_UNAVAILABLE');

    await end({ database, proxy });
    const back = await shown(server, reader, 'up');
    expect(partOf(back, 'segment')).toMatchObject({ status: 'up', reason: null });
    for (const path of PATHS) {
      const answered = await until(`an answer of ${path}`, async () => {
        const { status, body } = await call(server.port, path);
        return status === 200 && body;
      });
      said.push(answered);
    }
    for (const part of [PASSWORD, encodeURIComponent(PASSWORD), 'never:shown']) {
      expect(said.filter((answer) => answer.includes(part))).toStrictEqual([]);
    }
  });

  it('lists the servers of the registry, those that came later as well', async () => {
    const one = await start();
    const instances = async (): Promise<string[]> => {
      const { worker } = await json<SnowflakeView>(one.port, '/api/monitor/snowflake');
      return worker!.peers.map(({ instance, workerId }) => `${instance} ${workerId ?? 'none'}`).sort();
    };
    expect(await instances()).toEqual([expect.stringMatching(/^10\.0\.0\.1:8081 \d+$/)]);
    await start({ LEAF_ADVERTISE_HOST: '10.0.0.2' });
    const both = await until('the other one', async () => {
      const seen = await instances();
      return seen.length === 2 && seen;
    });
    expect(both[1]).toMatch(/^10\.0\.0\.2:8081 \d+$/);
  });

  it('answers in time while the registry does not, with the servers it knew', async () => {
    // Longer than this test takes: with its time used up, it would not be degraded but down.
    const server = await start({ LEAF_SNOWFLAKE_LEASE_TTL_MS: '120000' });
    const view = (): Promise<SnowflakeView> => json(server.port, '/api/monitor/snowflake');
    expect((await view()).worker?.peers).toHaveLength(1);
    proxy.blackhole();
    const { worker } = await until('a failed report', async () => {
      const seen = await view();
      return seen.worker?.trouble !== null && seen;
    });
    expect(worker?.peers).toHaveLength(1);
    expect(worker?.trouble).not.toContain(PASSWORD);
    const overview = await json<OverviewView>(server.port, '/api/monitor/overview');
    expect(partOf(overview, 'registry').status).toBe('degraded');
    proxy.heal();
  });
});
