import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { BitLayout, DEFAULT_LAYOUT } from '@leaf-ids/core';
import { ensureBuilt, ROOT } from '../../support/build';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';
import { launch } from '../../support/servers/launch';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres';
import { until } from '../../support/until';

const layout = new BitLayout(DEFAULT_LAYOUT);

/** Two reports of the lease, which are 3 s apart. */
const WATCH_MS = 7000;

/** A process with IdModule, and what it says. */
class Application {
  readonly orders: bigint[] = [];
  readonly events: bigint[] = [];
  /** Refusals, and warnings of its log. */
  readonly complaints: string[] = [];
  private readonly child: ChildProcess;
  private readonly closed: Promise<unknown>;

  constructor(database: string) {
    const fixture = join(ROOT, 'test/support/fixtures/embedded-application.mjs');
    const options = JSON.stringify({ database, tags: ['order'], segment: { waitMs: 30_000 }, snowflake: {} });
    this.child = launch({ command: [process.execPath, fixture, options], env: {} });
    this.closed = once(this.child, 'close');
    createInterface({ input: this.child.stdout! }).on('line', (line) => this.read(line));
  }

  get workerIds(): number[] {
    return [...new Set(this.events.map((id) => layout.decompose(id).workerId))];
  }

  /** Waits until it has issued `count` more IDs of both kinds. */
  async issues(count: number): Promise<void> {
    const wanted = this.events.length + count;
    await until('IDs', () => {
      if (this.child.exitCode !== null) throw new Error(`The application ended: ${this.complaints.join('\n')}`);
      return this.events.length >= wanted;
    });
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.child.kill(signal);
    await this.closed;
  }

  private read(line: string): void {
    const [kind, order = '', event = ''] = line.split(' ');
    if (kind !== 'ids') this.complaints.push(line);
    else {
      this.orders.push(BigInt(order));
      this.events.push(BigInt(event));
    }
  }
}

function expectUnique(applications: readonly Application[]): void {
  for (const kind of ['orders', 'events'] as const) {
    const all = applications.flatMap((application) => application[kind]);
    expect(new Set(all).size).toBe(all.length);
  }
}

const DATABASES = ['MariaDB', 'PostgreSQL', 'SQLite'] as const;
type Database = (typeof DATABASES)[number];

describe('Two processes with the same options', () => {
  const running: Application[] = [];
  const urls = new Map<Database, string>();
  const pairs = new Map<Database, readonly [Application, Application]>();
  let directory: string;
  let mariadb: MariadbServer;
  let postgres: PostgresServer;

  beforeAll(async () => {
    [directory, mariadb, postgres] = await Promise.all([makeDataDirectory(), startMariadb(), startPostgres()]);
    await ensureBuilt();
    urls.set('MariaDB', await mariadb.createDatabase());
    urls.set('PostgreSQL', await postgres.createDatabase());
    urls.set('SQLite', `sqlite:${join(directory, 'leaf.sqlite')}`);
    // The first ones on a new registry wait 14 s: all at the same time.
    for (const name of DATABASES) pairs.set(name, [start(name), start(name)]);
  });
  afterAll(async () => {
    await Promise.all(running.map((application) => application.end('SIGKILL')));
    await Promise.all([removeDataDirectory(directory), mariadb.stop(), postgres.stop()]);
  });

  function start(name: Database): Application {
    const application = new Application(urls.get(name)!);
    running.push(application);
    return application;
  }

  it.each(DATABASES)('on %s have a worker ID each, and keep it', async (name) => {
    const [one, other] = pairs.get(name)!;
    await Promise.all([one.issues(1), other.issues(1)]);
    for (const { complaints } of [one, other]) complaints.length = 0;
    await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
    await Promise.all([one.issues(10), other.issues(10)]);
    expect([...one.complaints, ...other.complaints]).toStrictEqual([]);
    expect([one.workerIds.length, other.workerIds.length]).toEqual([1, 1]);
    expect(one.workerIds).not.toEqual(other.workerIds);

    // The pool has a free worker ID for a restart after a crash, and the other process is not disturbed.
    await one.end('SIGKILL');
    const again = start(name);
    await Promise.all([again.issues(10), other.issues(10)]);
    expect([...other.complaints, ...again.complaints].filter((line) => line.startsWith('refused'))).toStrictEqual([]);
    await again.end('SIGTERM');
    await other.issues(10);
    expect(other.workerIds).toHaveLength(1);
    expectUnique([one, other, again]);
  });
});
