import 'reflect-metadata';
import { spawn } from 'node:child_process';
import { text as readAll } from 'node:stream/consumers';
import { type INestApplicationContext, Logger, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource, type EntityTarget } from 'typeorm';
import { blocksOf, evaluate, namedBlocksOf, readPage } from '../../support/pages';
import { startMariadb } from '../../support/servers/mariadb';
import { startPostgres } from '../../support/servers/postgres';
import { until } from '../../support/until';

const page = readPage('docs/moving-from-auto-increment.md');
const statements = namedBlocksOf(page, 'sql');
const programs = namedBlocksOf(page, 'ts');
const commands = blocksOf(page, 'sh').map((text) => text.trim());
/** The statement of step 6, which is the same for all databases. */
const abovePage = blocksOf(page, 'sql').find((text) => text.startsWith('SELECT'))!;

interface Row {
  readonly id: string;
  readonly customer: string;
}

const MYSQL = {
  client: 'mysql' as const,
  type: 'mysql' as const,
  start: startMariadb,
  table: 'CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, customer VARCHAR(50) NOT NULL)',
  move: 'ALTER TABLE orders AUTO_INCREMENT = 48200',
  waiting: "SELECT 1 FROM information_schema.processlist WHERE state LIKE 'Waiting for table metadata lock%'",
  command: ({ hostname, port, username, pathname }: URL) => [
    ...['mysql', '--skip-column-names', '-h', hostname, '-P', port, '-u', username, pathname.slice(1)],
  ],
};
const POSTGRES = {
  client: 'psql' as const,
  type: 'postgres' as const,
  start: startPostgres,
  table: 'CREATE TABLE orders (id BIGSERIAL PRIMARY KEY, customer VARCHAR(50) NOT NULL)',
  move: "SELECT setval('orders_id_seq', 48200)",
  waiting: "SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'ShareRowExclusiveLock'",
  command: ({ href }: URL) => ['psql', '-v', 'ON_ERROR_STOP=1', '--no-psqlrc', '--quiet', '-At', href],
};

describe.each([MYSQL, POSTGRES])('docs/moving-from-auto-increment.md on $type', ({ client, type, ...kind }) => {
  let server: Awaited<ReturnType<typeof kind.start>>;
  let url: string;
  let database: DataSource;
  const writers: Writer[] = [];

  beforeAll(async () => {
    Logger.overrideLogger(false);
    server = await kind.start();
    url = await server.createDatabase();
    database = await new DataSource({ type, url }).initialize();
    await database.query(kind.table);
    await database.query(kind.move);
  });
  afterEach(() => Promise.all(writers.splice(0).map((writer) => writer.stop())));
  afterAll(async () => {
    await database.destroy();
    await server.stop();
  });

  /** Inserts rows one after the other until it is stopped, as an instance of the application does. */
  class Writer {
    written = 0;
    private stopped = false;
    private readonly end: Promise<void>;

    constructor(
      private readonly insert: () => Promise<unknown>,
      private readonly close: () => Promise<void> = () => Promise.resolve(),
    ) {
      this.end = this.run();
      // Awaited by writes() and stop().
      this.end.catch(() => undefined);
      writers.push(this);
    }

    /** Resolves after `count` more rows. */
    async writes(count: number): Promise<void> {
      const wanted = this.written + count;
      await Promise.race([until('rows', () => this.written >= wanted), this.end]);
    }

    async stop(): Promise<void> {
      if (this.stopped) return;
      this.stopped = true;
      await this.end;
      await this.close();
    }

    private async run(): Promise<void> {
      for (; !this.stopped; this.written++) await this.insert();
    }
  }

  const oldInsert = (): Promise<unknown> => database.query("INSERT INTO orders (customer) VALUES ('old')");
  const oldVersion = (): Writer => new Writer(oldInsert);

  /** An instance with the module of the page. */
  async function newVersion(): Promise<Writer> {
    const program = programs.get('orders.ts')!.replace("'mysql'", `'${type}'`);
    const environment = { process: { env: { DATABASE_URL: url } } };
    const module = evaluate(program, environment) as { Order: EntityTarget<Row>; OrdersModule: Type };
    const app: INestApplicationContext = await NestFactory.createApplicationContext(module.OrdersModule, {
      logger: false,
    });
    const orders = app.get(DataSource).getRepository(module.Order);
    return new Writer(
      () => orders.save(orders.create({ customer: 'new' })),
      () => app.close(),
    );
  }

  /** Runs SQL with the client of the database, as an operator does. */
  async function sql(text: string): Promise<string> {
    const [program = '', ...words] = kind.command(new URL(url));
    const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.end(text);
    const [output, errors] = await Promise.all([readAll(child.stdout), readAll(child.stderr)]);
    expect(errors.replace(/^WARNING.*\n/gm, '')).toBe('');
    return output.trim();
  }

  const step = (name: string): Promise<string> => sql(statements.get(`${client}: ${name}`)!);

  /** Runs a command of the page, with another first argument than its example if one is given. */
  async function orderTag(command: string | undefined, first?: string): Promise<void> {
    const [, shown = '', last] = /^node dist\/order-tag\.js (\d+)(?: (\d+))?$/.exec(command ?? '') ?? [];
    const words = [first ?? shown, ...(last === undefined ? [] : [last])];
    await new Promise((log) => {
      evaluate(programs.get('order-tag.ts')!, {
        process: { argv: ['node', 'dist/order-tag.js', ...words], env: { DATABASE_URL: url } },
        console: { log },
      });
    });
  }

  async function idsOf(customer: string): Promise<number[]> {
    const rows: Row[] = await database.query(`SELECT id, customer FROM orders WHERE customer = '${customer}'`);
    return rows.map(({ id }) => Number(id));
  }

  const oldBelow = async (id: number): Promise<number[]> => (await idsOf('old')).filter((each) => each < id);

  it('moves the table while instances insert, and back', async () => {
    // An old instance with an open transaction has taken an ID.
    const old = [oldVersion(), oldVersion()];
    await old[0]!.writes(10);
    const open = database.createQueryRunner();
    await open.startTransaction();
    await open.query("INSERT INTO orders (customer) VALUES ('old')");
    const room = step('make room');
    await until('a statement that waits', async () => (await database.query<unknown[]>(kind.waiting)).length > 0);
    await open.commitTransaction();
    await open.release();
    const first = await room;
    await old[0]!.writes(10);
    expect(Number(first)).toBe(Math.max(...(await oldBelow(1_050_000))) + 1);

    await orderTag(commands[0], first);
    const [one, two] = [await newVersion(), await newVersion()];
    await Promise.all([...old, one, two].map((writer) => writer.writes(20)));
    const during = await idsOf('new');
    expect(Math.min(...during)).toBe(Number(first));
    expect(Math.max(...during)).toBeLessThan(1_050_000);

    // Back and forth without any other step, then the old version ends.
    await one.stop();
    const again = oldVersion();
    await again.writes(10);
    await Promise.all([again, ...old].map((writer) => writer.stop()));
    const three = await newVersion();
    await step('refuse');
    await Promise.all([two.writes(10), three.writes(10)]);
    await expect(oldInsert()).rejects.toThrow(/orders.id comes from Leaf|null value in column "id"/);

    const above = await sql(abovePage);
    const highest = Math.max(...(await idsOf('old')));
    expect(Number(above)).toBe(highest + 1);
    await orderTag(commands[1], above);
    await Promise.all([two, three].map((writer) => writer.stop()));
    const four = await newVersion();
    await four.writes(10);
    expect(Math.max(...(await idsOf('new')))).toBeGreaterThan(highest);

    await orderTag(commands[2]);
    await step('back');
    const back = oldVersion();
    await Promise.all([four, back].map((writer) => writer.writes(10)));
    expect(Math.max(...(await idsOf('new')))).toBeLessThan(2_100_000);
    expect((await idsOf('old')).some((id) => id >= 2_100_000)).toBe(true);
  });
});

it('docs/moving-from-auto-increment.md has no statement, program or command that is not run', () => {
  const names = ['make room', 'refuse', 'back'].flatMap((name) => [`mysql: ${name}`, `psql: ${name}`]);
  expect([...statements.keys()]).toEqual(names);
  expect(blocksOf(page, 'sql')).toHaveLength(names.length + 1);
  expect([...programs.keys()]).toEqual(['order-tag.ts', 'orders.ts']);
  expect(commands).toHaveLength(3);
});
