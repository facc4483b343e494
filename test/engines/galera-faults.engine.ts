import { GaleraCluster, type GaleraNode } from '../support/servers/engines/galera';
import { PrivateNetwork } from '../support/servers/engines/private-network';
import { type LossOptions, type LossResult, LossWorld } from './loss-world';
import { recordEngine, recordFault } from './results';
import { versionOf } from './single-server';

const FLUSH = 'innodb_flush_log_at_trx_commit';
const NAME = 'Galera, 3 nodes';
const ROUNDS = 3;

let network: PrivateNetwork;
let cluster: GaleraCluster;
let nodes: readonly GaleraNode[];
beforeAll(async () => {
  network = await PrivateNetwork.create(3);
  cluster = await GaleraCluster.start({ network });
  ({ nodes } = cluster);
  recordEngine(NAME, await versionOf(nodes[0]!));
});
afterAll(async () => {
  await cluster.stop();
  await network.remove();
});

async function flushing(value: number, timeout: number): Promise<void> {
  const settings = { innodb_flush_log_at_trx_commit: value, innodb_flush_log_at_timeout: timeout };
  for (const node of nodes) await node.persist(settings);
}

/** A new database on all nodes, with load. */
async function underLoad(options: LossOptions = {}): Promise<{ world: LossWorld; urls: readonly string[] }> {
  const urls = await cluster.createDatabase();
  return { world: await LossWorld.start(urls, options), urls };
}

async function killAll(world: LossWorld): Promise<void> {
  await Promise.all(nodes.map((node) => node.kill()));
  await world.crash();
}

/** The nodes in the order of their newest commits, the one with the most first. */
async function byPosition(): Promise<GaleraNode[]> {
  const found = await Promise.all(nodes.map(async (node) => ({ node, position: await node.position() })));
  return found.sort((a, b) => b.position - a.position).map(({ node }) => node);
}

/** A new cluster of `first`, whose data the others take. */
async function bootstrap(first: GaleraNode): Promise<void> {
  await first.bootstrap();
  await rejoin(nodes.filter((node) => node !== first));
}

async function rejoin(others: readonly GaleraNode[]): Promise<void> {
  for (const node of others) await node.rejoin();
  await cluster.complete();
}

const urlOf = (urls: readonly string[], node: GaleraNode): string => urls[nodes.indexOf(node)]!;

async function recordEnd(fault: string, settings: string, world: LossWorld): Promise<LossResult> {
  const result = await world.end();
  recordFault(fault, settings, result);
  return result;
}

it(`loses nothing when two of three nodes are killed at once`, async () => {
  const { world, urls } = await underLoad();
  for (let round = 0; round < ROUNDS; round++) {
    const [one, other] = [nodes[round % 3]!, nodes[(round + 1) % 3]!];
    await Promise.all([one.kill(), other.kill()]);
    await Promise.all([one.restart(), other.restart()]);
    await cluster.complete();
    await world.progress([0, 1, 2]);
  }
  await world.crash();
  await world.count(urls[2]!);
  await world.goOn();
  const fault = `kill -9 of two nodes at once, restart; ${ROUNDS} times`;
  expect(await recordEnd(fault, `${FLUSH}=1`, world)).toMatchObject({ rowsLost: 0, updatesLost: 0, duplicates: 0 });
});

it.each([
  { flush: 1, timeout: 1, loses: false },
  { flush: 2, timeout: 1, loses: false },
  { flush: 0, timeout: 1, loses: undefined },
  // Whether a kill loses something then does not depend on its moment.
  { flush: 0, timeout: 600, loses: true },
])(`gives no ID twice when all nodes are killed at once ($flush, $timeout)`, async ({ flush, timeout, loses }) => {
  await flushing(flush, timeout);
  const { world, urls } = await underLoad({ accept: [FLUSH] });
  await world.progress([0, 1, 2], 50);
  await killAll(world);
  const [first] = await byPosition();
  await bootstrap(first!);
  const { rowsLost } = await world.count(urlOf(urls, first!));
  await world.goOn();
  await flushing(1, 1);
  const result = await recordEnd(
    'kill -9 of all nodes at once, new cluster from the last one',
    `${FLUSH}=${flush}${flush === 0 ? `, innodb_flush_log_at_timeout=${timeout}` : ''}`,
    world,
  );
  if (loses !== undefined) expect(rowsLost > 0).toBe(loses);
  expect(result.duplicates).toBe(0);
});

it('gives no ID twice when the cluster is made anew from a node that was left behind', async () => {
  const { world, urls } = await underLoad();
  await nodes[2]!.kill();
  await world.progress([0, 1], 50);
  await killAll(world);
  await nodes[2]!.bootstrap();
  const loss = await world.count(urls[2]!);
  await world.goOn([urls[2]!]);
  const fault = 'kill -9 of node 3, then of the others, new cluster from node 3';
  const result = await recordEnd(fault, `${FLUSH}=1`, world);
  await rejoin(nodes.slice(0, 2));
  expect(loss.updatesLost).toBeGreaterThan(0);
  expect(result.duplicates).toBe(0);
});

it('loses nothing in a partition', async () => {
  const { world, urls } = await underLoad();
  for (let round = 0; round < ROUNDS; round++) {
    const alone = round % 3;
    await network.split([alone]);
    await world.progress([0, 1, 2].filter((node) => node !== alone));
    await network.heal([alone]);
    await cluster.complete();
    await world.progress([0, 1, 2]);
  }
  await world.crash();
  await world.count(urls[0]!);
  await world.goOn();
  const result = await recordEnd(`one node cut off from the others, healed; ${ROUNDS} times`, `${FLUSH}=1`, world);
  expect(result).toMatchObject({ rowsLost: 0, updatesLost: 0, duplicates: 0 });
});

it('gives no ID twice when the side of a partition that was left behind is made the cluster', async () => {
  const { world, urls } = await underLoad();
  await network.split([2]);
  await world.progress([0, 1], 50);
  await Promise.all(nodes.slice(0, 2).map((node) => node.kill()));
  await world.crash();
  await network.heal([2]);
  await nodes[2]!.query("SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'");
  const loss = await world.count(urls[2]!);
  await world.goOn([urls[2]!]);
  const fault = 'node 3 cut off, kill -9 of the others, pc.bootstrap=YES on node 3';
  const result = await recordEnd(fault, `${FLUSH}=1`, world);
  await rejoin(nodes.slice(0, 2));
  expect(loss.updatesLost).toBeGreaterThan(0);
  expect(result.duplicates).toBe(0);
});

it('issues IDs twice when both sides of a partition take writes, which a start refuses', async () => {
  const provider = (value: boolean): Promise<unknown> =>
    Promise.all(
      nodes.map((node) =>
        node.query(`SET GLOBAL wsrep_provider_options = 'pc.ignore_sb=${value};pc.ignore_quorum=${value}'`),
      ),
    );
  const urls = await cluster.createDatabase();
  await provider(true);
  await expect(LossWorld.start(urls)).rejects.toMatchObject({
    code: 'LEAF_DATABASE_UNUSABLE',
    message: expect.stringContaining('pc.ignore_sb = true') as string,
  });
  const world = await LossWorld.start(urls, { accept: ['wsrep_provider_options'] });
  await network.split([2]);
  await world.progress([0, 1, 2], 50);
  const result = await recordEnd('one node cut off from the others', 'pc.ignore_sb=true; pc.ignore_quorum=true', world);
  expect(result.duplicates).toBeGreaterThan(0);
  await network.heal([2]);
  await provider(false);
  await rejoin([nodes[2]!]);
});

const UPDATES = 300;

it.each([
  { how: 'SELECT, then UPDATE of the number read', isolated: 'OFF', exact: false },
  { how: 'SELECT, then UPDATE of the number read', isolated: 'ON', exact: true },
  { how: 'SELECT … FOR UPDATE, then UPDATE of the number read', isolated: 'OFF', exact: true },
  { how: 'UPDATE … SET n = n + 1, as Leaf', isolated: 'OFF', exact: true },
])(
  'counts updates that are lost between nodes: $how, innodb_snapshot_isolation=$isolated',
  async ({ how, isolated, exact }) => {
    const name = new URL((await cluster.createDatabase())[0]!).pathname.slice(1);
    await nodes[0]!.query(
      `CREATE TABLE ${name}.counter (id int PRIMARY KEY, n int NOT NULL); INSERT INTO ${name}.counter VALUES (1, 0)`,
    );
    const read = `SELECT n FROM counter WHERE id = 1${how.includes('FOR UPDATE') ? ' FOR UPDATE' : ''}`;
    const count = async (node: GaleraNode): Promise<{ confirmed: number; refused: number }> => {
      const session = await node.open(name);
      let [confirmed, refused] = [0, 0];
      await session.query(`SET SESSION innodb_snapshot_isolation = ${isolated}`);
      for (let turn = 0; turn < UPDATES; turn++) {
        try {
          if (how.startsWith('UPDATE')) {
            await session.query('UPDATE counter SET n = n + 1 WHERE id = 1');
          } else {
            await session.query('BEGIN');
            const [row] = await session.query(read);
            await session.query(`UPDATE counter SET n = ${Number(row?.n) + 1} WHERE id = 1`);
            await session.query('COMMIT');
          }
          confirmed++;
        } catch {
          refused++;
          await session.query('ROLLBACK');
        }
      }
      await session.close();
      return { confirmed, refused };
    };
    const counts = await Promise.all(nodes.map(count));
    const [row] = await nodes[0]!
      .query(`SET wsrep_sync_wait = 7; SELECT n FROM ${name}.counter`)
      .then((rows) => rows.slice(-1));
    const stored = Number((row as unknown as { n: number }[])[0]?.n);
    const sum = (key: 'confirmed' | 'refused'): number => counts.reduce((total, each) => total + each[key], 0);
    const lost = sum('confirmed') - stored;
    recordFault(`no fault: ${how}, on three nodes at once`, `innodb_snapshot_isolation=${isolated}`, {
      rows: sum('confirmed'),
      rowsLost: lost,
      updatesLost: 0,
      idsBack: 0,
      ids: 0,
      duplicates: 0,
      refused: sum('refused'),
      moves: [],
    });
    if (exact) expect(lost).toBe(0);
    else expect(lost).toBeGreaterThan(0);
  },
);
