import type { ClusterAnswer, ClusterServer, CommandAnswer } from '../../apps/leaf-server/src/cluster/views';
import { ensureBuilt } from '../support/build';
import { freePorts } from '../support/free-port';
import { admin, ADMIN_TOKEN } from '../support/http/admin';
import { call, json } from '../support/http/http';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { processesOf } from '../support/servers/supervised';
import { until } from '../support/until';

const TOKEN = 'cluster-token-0123456789';
const PROCESSES = 2;

const servers = new BuiltServers();
beforeAll(ensureBuilt);
afterEach(() => servers.end());

it('a cluster of processes of which one has two, one hangs, and one is down', async () => {
  const directory = await servers.makeDirectory();
  const ports = await freePorts(3);
  const start = (index: number, env: NodeJS.ProcessEnv = {}): Promise<BuiltServer> =>
    servers.start(directory, {
      LEAF_PORT: String(ports[index]),
      LEAF_NAME: `server-${index}`,
      LEAF_DATABASE_URL: `sqlite:${directory}/leaf.sqlite`,
      LEAF_SNOWFLAKE_REGISTRY: 'database',
      LEAF_ADMIN_TOKEN: ADMIN_TOKEN,
      LEAF_CLUSTER_TOKEN: TOKEN,
      ...env,
    });
  const [first, hangs, down] = [await start(0, { LEAF_PROCESSES: String(PROCESSES) }), await start(1), await start(2)];
  await until('all processes', () => processesOf(first).size === PROCESSES);
  const cluster = (): Promise<ClusterAnswer> => json(first.port, '/api/cluster');
  const seen = (index: number, state: ClusterServer['state']): Promise<ClusterServer> =>
    until(`${state} of server ${index}`, async () => {
      const found = (await cluster()).servers.find(({ instance }) => instance === `127.0.0.1:${ports[index]}`);
      return found?.state === state && found;
    });

  for (const index of ports.keys()) await seen(index, 'ready');
  // Each process has a worker ID of its own, and the server is listed once.
  expect((await cluster()).servers).toHaveLength(3);

  hangs.signal('SIGSTOP');
  await down.kill();
  const silent = await seen(1, 'silent');
  expect(silent.reason).toContain('timed out after 1500 ms');
  expect(silent.lastAnsweredAt).toBeGreaterThan(Date.now() - 60_000);
  expect(silent.workerId).toEqual(expect.any(Number));
  // A request that was under way at its end was reset; the next round is refused.
  await until('a refused connection', async () => (await seen(2, 'silent')).reason?.includes('ECONNREFUSED'));
  expect((await seen(0, 'ready')).self).toBe(true);

  const command = await admin(first.port, 'POST', '/api/cluster/orders', { order: 'drain', confirm: '3' });
  const { results } = JSON.parse(command.body) as CommandAnswer;
  expect(results.filter(({ done }) => done).map(({ instance }) => instance)).toEqual([`127.0.0.1:${ports[0]}`]);
  await seen(0, 'draining');

  hangs.signal('SIGCONT');
  // It may have received the command: then it executes the command when it continues.
  const { version } = await until('a report', async () => {
    const found = (await cluster()).servers.find(({ instance }) => instance === `127.0.0.1:${ports[1]}`);
    return found?.version !== undefined && found;
  });
  expect(version).toEqual(expect.any(String));
  await admin(first.port, 'POST', '/api/cluster/orders', { order: 'undrain' });
  await seen(1, 'ready');
  await seen(0, 'ready');
  expect((await call(hangs.port, '/health/ready')).status).toBe(200);
  expect(first.stdout + first.stderr + hangs.stdout).not.toContain(TOKEN);
});
