import { ensureBuilt } from '../support/build';
import { json } from '../support/http/http';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { type MariadbServer, startMariadb } from '../support/servers/mariadb';
import { ready } from '../support/servers/readiness';
import { until } from '../support/until';

const SIZE = 10_000;
const servers = new BuiltServers();
let mariadb: MariadbServer;
beforeAll(async () => {
  [mariadb] = await Promise.all([startMariadb(), ensureBuilt()]);
});
afterAll(() => mariadb.stop());
afterEach(() => servers.end());

/** Servers of one region, with a registry of their own. */
async function region(count: number, env: NodeJS.ProcessEnv): Promise<BuiltServer[]> {
  const database = await mariadb.createDatabase();
  const started = Array.from({ length: count }, async (_, index) => {
    const server = await servers.start(await servers.makeDirectory(), {
      ...{ LEAF_DATABASE_URL: database, LEAF_ADVERTISE_PORT: String(8080 + index), LEAF_SNOWFLAKE_BITS: '41,5+5,12' },
      ...env,
    });
    await ready(server.port);
    return server;
  });
  return Promise.all(started);
}

/** Takes this number of batches from each server, from all of them at the same time. */
async function take(from: readonly BuiltServer[], batches: number): Promise<BigUint64Array[]> {
  return Promise.all(
    from.map(async ({ port }) => {
      const ids = new BigUint64Array(batches * SIZE);
      for (let batch = 0; batch < batches; batch++) {
        const answer = await json<{ ids: string[] }>(port, `/api/snowflake/batch/order?size=${SIZE}`);
        answer.ids.forEach((id, index) => (ids[batch * SIZE + index] = BigInt(id)));
      }
      return ids;
    }),
  );
}

/** How many IDs there are more than once. */
function duplicates(lists: readonly BigUint64Array[]): number {
  const all = new BigUint64Array(lists.reduce((sum, { length }) => sum + length, 0));
  lists.reduce((offset, list) => (all.set(list, offset), offset + list.length), 0);
  all.sort();
  let found = 0;
  for (let index = 1; index < all.length; index++) if (all[index] === all[index - 1]) found++;
  return found;
}

it('Two regions with registries of their own give 10^7 IDs without a duplicate, and the decoder names the region', async () => {
  const regions = [3, 4];
  const started = await Promise.all(
    regions.map((datacenter) => region(2, { LEAF_SNOWFLAKE_DATACENTER: String(datacenter) })),
  );
  const lists = await take(started.flat(), 250);
  expect(lists.reduce((sum, { length }) => sum + length, 0)).toBe(10_000_000);
  expect(duplicates(lists)).toBe(0);
  for (const [index, list] of lists.entries()) {
    const datacenterId = regions[index < 2 ? 0 : 1]!;
    expect(list.every((id) => ((id >> 17n) & 31n) === BigInt(datacenterId))).toBe(true);
    // Any server decodes the IDs of all.
    const { port } = started[1 - (index < 2 ? 0 : 1)]![0]!;
    for (const id of [list[0], list.at(-1)]) {
      expect(await json(port, `/api/snowflake/decode/${id}`)).toMatchObject({ id: String(id), datacenterId });
    }
  }
});

it('Two regions that have one range give duplicates, which the comparison finds', async () => {
  const started = [await region(1, { LEAF_SNOWFLAKE_WORKERS: '7' }), await region(1, { LEAF_SNOWFLAKE_WORKERS: '7' })];
  // Only in a millisecond in which both issue.
  await until('a duplicate', async () => duplicates(await take(started.flat(), 50)) > 0);
});
