import { parseDatabaseUrl } from '@leaf-ids/persistence';
import { migrations } from '@leaf-ids/migrations';
import { segmentStoreContract } from '../support/contract/segment-store.contract';
import { connect, sqlFixture, tagFixture } from '../support/contract/sql-stores';
import { workerRegistriesOf } from '../support/contract/sql-worker-registry.contract';
import { workerStoresOf } from '../support/contract/sql-worker-store.contract';
import { tagStoreContract } from '../support/contract/tag-store.contract';
import { ensureBuilt } from '../support/build';
import { WorkerTables } from '../support/servers/worker-databases';
import { FleetLoad, TAG } from './fleet-load';
import { recordEngine, recordLoad } from './results';

const STARTS = 6;
const ROUNDS = 5;
const SERVERS = 3;

export interface Engine {
  readonly version: string;
  /** An empty database, by the URLs of all nodes that servers of Leaf may use. */
  createDatabase(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

export interface Disturbance<E extends Engine> {
  readonly name: string;
  readonly disturb: (engine: E, load: FleetLoad) => Promise<unknown>;
}

export interface EngineSuite<E extends Engine> {
  readonly name: string;
  readonly start: () => Promise<E>;
  /** What happens under load, one after the other, beside kills of the servers of Leaf. */
  readonly disturbances: readonly Disturbance<E>[];
}

/** What is run on every engine. */
export function engineSuite<E extends Engine>({ name, start, disturbances }: EngineSuite<E>): void {
  let engine: E;
  beforeAll(async () => {
    [engine] = await Promise.all([start(), ensureBuilt()]);
    recordEngine(name, engine.version);
  });
  afterAll(() => engine.stop());

  const one = async (): Promise<string> => (await engine.createDatabase())[0] ?? '';
  const nothing = (): Promise<void> => Promise.resolve();

  it(`makes one schema when ${STARTS} servers start at once, on every node`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const urls = await engine.createDatabase();
      const starts = Array.from({ length: STARTS }, (_, index) => parseDatabaseUrl(urls[index % urls.length] ?? ''));
      const started = await Promise.allSettled(starts.map((target) => connect(target)));
      const opened = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      const failed = started.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
      expect([round, failed]).toEqual([round, []]);
      for (const database of opened) {
        expect(await database.query('SELECT name FROM leaf_migrations')).toHaveLength(migrations.length);
        expect(await database.query('SELECT biz_tag FROM leaf_alloc')).toEqual([{ biz_tag: TAG }]);
        await database.destroy();
      }
    }
  });

  it('gives no ID twice under load, with kills of servers and of nodes', async () => {
    const urls = await engine.createDatabase();
    await (await connect(parseDatabaseUrl(urls[0] ?? ''))).destroy();
    const load = await FleetLoad.start(Array.from({ length: SERVERS }, (_, index) => urls[index % urls.length] ?? ''));
    try {
      for (const [index, { disturb }] of disturbances.entries()) {
        await load.killServer(index % SERVERS);
        await load.progress();
        await disturb(engine, load);
        await load.progress();
      }
    } finally {
      const count = await load.end();
      recordLoad({ ...count, disturbances: ['kill -9 of a server', ...disturbances.map((each) => each.name)] });
      expect(count).toMatchObject({ duplicates: 0 });
    }
  });

  // Last: they leave many databases, which a killed server takes long to recover.
  segmentStoreContract(name, { open: async () => sqlFixture(await one(), nothing) });
  tagStoreContract(name, async () => tagFixture(await one(), nothing));
  workerContracts(name, one);
}

function workerContracts(name: string, createDatabase: () => Promise<string>): void {
  describe(`workers in ${name}`, () => {
    let tables: WorkerTables;
    beforeAll(async () => (tables = await WorkerTables.create(() => Promise.resolve({ createDatabase, stop }))));
    afterAll(() => tables.stop());

    workerStoresOf(name, () => tables);
    workerRegistriesOf(name, () => tables);
  });
}

/** The engine outlives the tables. */
function stop(): Promise<void> {
  return Promise.resolve();
}
