import { setTimeout as sleep } from 'node:timers/promises';
import { Numbers } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { openPersistence, parseDatabaseUrl, type Persistence } from '@leaf-ids/persistence';
import { clock, connect } from '../../support/contract/sql-stores';
import { freePort } from '../../support/free-port';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { type BuiltServer, BuiltServers } from '../../support/servers/built-server';
import { startMariadb } from '../../support/servers/mariadb';
import { startPostgres } from '../../support/servers/postgres';
import { guarded, type PrivateServer } from '../../support/servers/private-server';
import { until } from '../../support/until';
import { Record, runApplication, runHttp, TAG } from './callers';
import { faultsOf, type StoredLine, type StoredNumber } from './checker';

export const DATABASES = {
  mariadb: (): Promise<PrivateServer> => startMariadb(),
  postgres: (): Promise<PrivateServer> => startPostgres(),
};

export interface NumbersOptions {
  readonly database: keyof typeof DATABASES;
  /** Shortest length; it ends when each fault was there once. */
  readonly seconds: number;
  /** The built `main.js` of the server. */
  readonly serverFile: string;
  readonly say: (line: string) => void;
}

export interface NumbersOutcome {
  readonly numbers: number;
  readonly answers: number;
  readonly retried: number;
  readonly rolledBack: number;
  readonly injected: number;
  readonly refusals: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
}

const SERVERS = 2;
const HTTP_CALLERS = 12;
const APPLICATION_CALLERS = 4;
const CALM_MS = 300;
const FAULT_MS = 700;

/** Two servers, an application and sixteen callers on one tag, whose database and networks fail in turn. */
export async function runNumbers(options: NumbersOptions): Promise<NumbersOutcome> {
  const { database, seconds, serverFile, say } = options;
  const opened: (() => Promise<unknown>)[] = [];
  try {
    const server = await DATABASES[database]();
    opened.push(() => server.stop());
    const world = await NumbersWorld.make(server, serverFile, opened);
    const record = new Record();
    const callers = [
      ...Array.from({ length: HTTP_CALLERS }, (_, n) => runHttp(record, `http ${n}`, () => world.ports)),
      ...Array.from({ length: APPLICATION_CALLERS }, (_, n) =>
        runApplication(record, `app ${n}`, () => world.applicationUrl, world.numbers),
      ),
    ];
    const end = performance.now() + seconds * 1000;
    let injected = 0;
    const { injections } = world;
    while (record.faults.length === 0 && (injected < injections.length || performance.now() < end)) {
      await sleep(CALM_MS);
      const [name, inject] = injections[injected % injections.length]!;
      await inject();
      injected++;
      say(`${name}: ${record.given.length} answers, ${record.faults.length} faults`);
      const before = record.given.length;
      await until('answers', () => record.given.length > before || record.faults.length > 0, 60_000);
    }
    record.running = false;
    await Promise.all(callers);
    const history = await world.history();
    const { given, documents, retried, rolledBack, refusals } = record;
    const faults = [
      ...record.faults,
      ...faultsOf({ tag: TAG, given, documents, ...history }),
      ...(await world.probe()),
    ];
    return { numbers: history.numbers.length, answers: given.length, retried, rolledBack, injected, refusals, faults };
  } finally {
    for (const close of opened.reverse()) await close();
  }
}

interface Server {
  readonly env: NodeJS.ProcessEnv;
  readonly proxy: TcpProxy;
  process: BuiltServer;
}

class NumbersWorld {
  private constructor(
    private readonly server: PrivateServer,
    private readonly url: string,
    /** Between the servers and the database, and between the application and it. */
    private readonly paths: readonly TcpProxy[],
    private readonly fleet: BuiltServers,
    private readonly servers: Server[],
    readonly numbers: Numbers,
  ) {}

  static async make(
    server: PrivateServer,
    serverFile: string,
    opened: (() => Promise<unknown>)[],
  ): Promise<NumbersWorld> {
    const url = await server.createDatabase();
    const paths: TcpProxy[] = [];
    for (let n = 0; n <= SERVERS; n++) {
      const path = await TcpProxy.start(server.port);
      opened.push(() => path.stop());
      paths.push(path);
    }
    const persistence = (await openPersistence({ url: through(url, paths.at(-1)), migrate: true })) as Persistence;
    opened.push(() => persistence.onApplicationShutdown());
    await persistence.tags.create({
      tag: TAG,
      step: 1,
      order: 'gapless',
      reset: 'daily',
      pattern: '{YYYY}{MM}{DD}-{seq:6}',
    });
    const dataSource = await connect(parseDatabaseUrl(url));
    await dataSource.query('CREATE TABLE document (id varchar(64) PRIMARY KEY, number bigint NOT NULL)');
    await dataSource.destroy();
    const fleet = new BuiltServers(await guarded([process.execPath, serverFile]));
    opened.push(() => fleet.end());
    const servers: Server[] = [];
    for (let n = 0; n < SERVERS; n++) {
      const env = {
        LEAF_PORT: String(await freePort()),
        LEAF_DATABASE_URL: through(url, paths[n]),
        LEAF_SNOWFLAKE_ENABLED: 'false',
        LEAF_SEGMENT_WAIT_MS: '3000',
      };
      const started = await fleet.start(await fleet.makeDirectory(), env);
      const proxy = await TcpProxy.start(started.port);
      opened.push(() => proxy.stop());
      servers.push({ env, proxy, process: started });
    }
    const numbers = new Numbers(persistence.numbers, clock, systemRandom, { waitMs: 3000 });
    return new NumbersWorld(server, url, paths, fleet, servers, numbers);
  }

  /** Where callers reach the servers: their answers may be lost on the way. */
  get ports(): number[] {
    return this.servers.map(({ proxy }) => proxy.port);
  }

  get applicationUrl(): string {
    return through(this.url, this.paths.at(-1));
  }

  readonly injections: readonly (readonly [string, () => Promise<void>])[] = [
    ['a server is killed', () => this.killServer(0)],
    ['answers of the database are lost', () => this.loseAnswers(this.paths)],
    ['answers of a server are lost', () => this.loseAnswers([this.servers[0]!.proxy])],
    ['the database is killed', () => this.killDatabase()],
    ['a server has no database', () => this.cutOff(this.paths[1]!)],
    ['the other server is killed', () => this.killServer(1)],
    ['everything is slow', () => this.slow()],
    ['all connections are cut', () => this.cut()],
  ];

  private async killServer(index: number): Promise<void> {
    const server = this.servers[index]!;
    await server.process.kill();
    server.process = await this.fleet.start(server.process.directory, server.env);
  }

  private async killDatabase(): Promise<void> {
    await this.server.kill();
    await this.server.restart();
    for (const path of this.paths) path.retarget(this.server.port);
  }

  /** What was asked is carried out, and the answers never come. */
  private async loseAnswers(paths: readonly TcpProxy[]): Promise<void> {
    for (const path of paths) path.blackhole('answers');
    await sleep(FAULT_MS);
    for (const path of paths) path.cut();
    for (const path of paths) path.heal();
  }

  private async cutOff(path: TcpProxy): Promise<void> {
    path.refuse();
    await sleep(FAULT_MS);
    path.heal();
  }

  private async slow(): Promise<void> {
    for (const path of this.paths) path.delay(30);
    await sleep(FAULT_MS);
    for (const path of this.paths) path.heal();
  }

  private async cut(): Promise<void> {
    for (let turn = 0; turn < 10; turn++) {
      for (const path of [...this.paths, ...this.servers.map(({ proxy }) => proxy)]) path.cut();
      await sleep(FAULT_MS / 10);
    }
  }

  async history(): Promise<{ numbers: StoredNumber[]; lines: StoredLine[] }> {
    const dataSource = await connect(parseDatabaseUrl(through(this.url, undefined, this.server.port)), false);
    const numbers = await dataSource.query<StoredNumber[]>(`SELECT * FROM leaf_number WHERE biz_tag = '${TAG}'`);
    const lines = await dataSource.query<StoredLine[]>(`SELECT * FROM leaf_number_journal WHERE biz_tag = '${TAG}'`);
    await dataSource.destroy();
    return { numbers, lines };
  }

  /** The tables refuse a second row for a key, and for a number. */
  async probe(): Promise<string[]> {
    const dataSource = await connect(parseDatabaseUrl(through(this.url, undefined, this.server.port)), false);
    const faults: string[] = [];
    const [{ doc_key: key } = {}] = await dataSource.query<Partial<StoredNumber>[]>(
      'SELECT doc_key FROM leaf_number LIMIT 1',
    );
    const [name, columns] = ['doc_key', 'period, number, turn, state, issued_at, issued_by'];
    for (const [what, sql] of [
      ['key', `SELECT biz_tag, ${name}, period, number + 1000000, turn, state, issued_at, issued_by`],
      ['number', `SELECT biz_tag, 'another key', ${columns}`],
    ]) {
      const insert = `INSERT INTO leaf_number (biz_tag, ${name}, ${columns}) ${sql} FROM leaf_number WHERE doc_key = '${key}'`;
      const isRefused = await dataSource.query(insert).then(
        () => false,
        () => true,
      );
      if (!isRefused) faults.push(`the table takes a second row with the same ${what}`);
    }
    await dataSource.destroy();
    return faults;
  }
}

function through(url: string, path: TcpProxy | undefined, port = path?.port): string {
  return url.replace(/:\d+\//, `:${port}/`);
}
