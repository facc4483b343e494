import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type ConnectionOptions } from 'mysql2/promise';
import { Client } from 'pg';

const PAUSE_MS = 3;
const RECONNECT_MS = 100;
const LIMIT_MS = 10_000;

interface Connection {
  run(sql: string): Promise<void>;
  numbers(sql: string): Promise<number[]>;
  close(): void;
}

export interface ObserverOptions {
  /** Executed on each new connection. */
  readonly session?: string;
}

/**
 * A client of the database that knows nothing of Leaf: it commits one row after the other, and notes which commits the
 * database confirmed to it. No row is tried twice.
 */
export class Observer {
  readonly confirmed: number[] = [];
  refused = 0;
  private next = 1;
  private ending = false;
  private readonly done: Promise<void>;

  /** Creates the table of all observers. */
  static async prepare(url: string): Promise<void> {
    const connection = await open(url);
    await connection.run(
      'CREATE TABLE observed (writer int NOT NULL, number int NOT NULL, PRIMARY KEY (writer, number))',
    );
    connection.close();
  }

  constructor(
    private readonly url: string,
    private readonly writer: number,
    private readonly options: ObserverOptions = {},
  ) {
    this.done = this.write();
  }

  async stop(): Promise<void> {
    this.ending = true;
    await this.done;
  }

  /** Number of confirmed rows that the database at `url` does not have. */
  async lostAt(url: string): Promise<number> {
    const confirmed = [...this.confirmed];
    const connection = await open(url);
    try {
      const found = new Set(await connection.numbers(`SELECT number FROM observed WHERE writer = ${this.writer}`));
      return confirmed.filter((number) => !found.has(number)).length;
    } finally {
      connection.close();
    }
  }

  private async write(): Promise<void> {
    while (!this.ending) {
      try {
        await this.writeOverConnection();
      } catch {
        this.refused++;
        await sleep(RECONNECT_MS);
      }
    }
  }

  private async writeOverConnection(): Promise<void> {
    const connection = await open(this.url);
    try {
      if (this.options.session !== undefined) await connection.run(this.options.session);
      while (!this.ending) {
        const number = this.next++;
        await connection.run(`INSERT INTO observed VALUES (${this.writer}, ${number})`);
        this.confirmed.push(number);
        await sleep(PAUSE_MS);
      }
    } finally {
      connection.close();
    }
  }
}

function open(url: string): Promise<Connection> {
  return url.startsWith('mysql:') ? openMysql(url) : openPostgres(url);
}

async function openMysql(url: string): Promise<Connection> {
  const { hostname: host, port, pathname } = new URL(url);
  const options: ConnectionOptions = { host, port: Number(port), user: 'root', database: pathname.slice(1) };
  const connection = await createConnection({ ...options, connectTimeout: LIMIT_MS });
  connection.on('error', () => undefined);
  const query = async (sql: string): Promise<unknown> => (await connection.query({ sql, timeout: LIMIT_MS }))[0];
  return {
    run: async (sql) => {
      await query(sql);
    },
    numbers: async (sql) => ((await query(sql)) as { number: number }[]).map(({ number }) => number),
    close: () => connection.destroy(),
  };
}

async function openPostgres(url: string): Promise<Connection> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: LIMIT_MS, query_timeout: LIMIT_MS });
  client.on('error', () => undefined);
  await client.connect();
  return {
    run: async (sql) => {
      await client.query(sql);
    },
    numbers: async (sql) => (await client.query<{ number: number }>(sql)).rows.map(({ number }) => number),
    close: () => void client.end().catch(() => undefined),
  };
}
