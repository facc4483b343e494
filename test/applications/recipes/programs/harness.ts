import type { IdService } from '@leaf-ids/core';
import { InMemoryIdService } from '@leaf-ids/core/testing';
import Libsql from 'libsql';
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';

export type Kind = 'sqlite' | 'mariadb' | 'postgres' | 'mongodb';

/** A way of inserting rows. */
export interface Way {
  /** Returns the keys that the application then knows, if any. */
  run(): Promise<readonly unknown[] | undefined>;
  /** Expected number of rows by table, including `stored`. */
  readonly rows: Readonly<Record<string, number>>;
  /** The statement of a row that exists before, with the key {@link STORED}. */
  readonly stored?: string;
}

/** Where the rows are read that the ways have written. */
export interface Store {
  clear(table: string): Promise<unknown>;
  keysOf(table: string): Promise<unknown[]>;
}

/** The first IDs of the tags: above 2^53, so that a key that was rounded or numbered by the database is no ID. */
const FIRST = { order: 2n ** 60n + 1n, line: 2n ** 61n + 1n, ticket: 2n ** 62n + 1n };
export const STORED = 2n ** 59n + 1n;

const [kind, url] = process.argv.slice(2) as [Kind, string];
export const database = { kind, url };

const service = new InMemoryIdService({
  tags: Object.entries(FIRST).map(([tag, maxId]) => ({ tag, step: 1000, maxId })),
});
const issued = new Set<string>();
export const ids = recorded(service);

/** Adds every ID that `service` issues to `issued`. */
function recorded(service: IdService): IdService {
  const record = (result: unknown): unknown => {
    if (result instanceof Promise) return result.then(record);
    for (const item of Array.isArray(result) ? (result as unknown[]) : [result]) {
      if (typeof item === 'object' && item !== null && 'from' in item && 'to' in item) {
        for (let id = item.from as bigint; id <= (item.to as bigint); id++) issued.add(String(id));
      } else issued.add(String(item));
    }
    return result;
  };
  return new Proxy(service, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function'
        ? (...words: unknown[]): unknown => record(Reflect.apply(member, target, words))
        : member;
    },
  });
}

export async function sql(statement: string): Promise<Record<string, unknown>[]> {
  if (kind === 'sqlite') {
    const file = new Libsql(url);
    try {
      const prepared = file.prepare(statement).safeIntegers(true);
      return prepared.reader ? (prepared.all() as Record<string, unknown>[]) : (prepared.run(), []);
    } finally {
      file.close();
    }
  }
  if (kind === 'mariadb') {
    const connection = await createConnection({ uri: url, supportBigNumbers: true, bigNumberStrings: true });
    const [rows] = await connection.query(statement);
    await connection.end();
    return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(statement);
  await client.end();
  return rows;
}

const quoted = (name: string): string => (kind === 'mariadb' ? `\`${name}\`` : `"${name}"`);

/** Creates the tables of libraries whose own tools need a download or a build step. */
export async function createTables(orders: string, lines: string, foreignKey: string): Promise<void> {
  await sql(
    `CREATE TABLE ${quoted(orders)} (id BIGINT NOT NULL PRIMARY KEY CHECK (id > 0), customer VARCHAR(100) NOT NULL UNIQUE)`,
  );
  await sql(
    `CREATE TABLE ${quoted(lines)} (id BIGINT NOT NULL PRIMARY KEY, article VARCHAR(100) NOT NULL, ${quoted(foreignKey)} BIGINT REFERENCES ${quoted(orders)} (id))`,
  );
}

const rowsInSql: Store = {
  clear: (table) => sql(`DELETE FROM ${quoted(table)}`),
  keysOf: async (table) => (await sql(`SELECT id FROM ${quoted(table)}`)).map(({ id }) => id),
};

export const insertStored = (table: string): string =>
  `INSERT INTO ${quoted(table)} (id, customer) VALUES (${STORED}, 'stored')`;

/** Tries each way on empty tables and prints one result for each as JSON. */
export async function tryWays(
  tables: readonly string[],
  ways: Readonly<Record<string, Way>>,
  store: Store = rowsInSql,
): Promise<void> {
  const results: { way: string; outcome: string; detail: string }[] = [];
  const known = new Set<string>();
  for (const [way, { run, rows, stored }] of Object.entries(ways)) {
    for (const table of [...tables].reverse()) await store.clear(table);
    if (stored !== undefined) await sql(stored);
    let failure: unknown;
    let returned: readonly unknown[] | undefined;
    try {
      returned = await run();
    } catch (error) {
      failure = error ?? new Error('rejected with nothing');
    }
    const keys: string[] = [];
    const faults: string[] = [];
    for (const table of tables) {
      const found = (await store.keysOf(table)).map(String);
      const expected = failure === undefined ? (rows[table] ?? 0) : stored !== undefined && table === tables[0] ? 1 : 0;
      if (found.length !== expected) faults.push(`${table} has ${found.length} rows instead of ${expected}`);
      keys.push(...found);
    }
    for (const key of keys.filter((one) => one !== String(STORED))) {
      if (!issued.has(key)) faults.push(`the key ${key} is not from Leaf`);
      if (known.has(key)) faults.push(`the key ${key} was used before`);
      known.add(key);
    }
    if (stored !== undefined && !keys.includes(String(STORED))) faults.push('the key of the stored row has changed');
    for (const key of returned ?? []) if (!keys.includes(String(key))) faults.push(`${String(key)} is not in the rows`);
    if (returned !== undefined && new Set(returned).size !== returned.length) faults.push('a key was returned twice');
    if (failure !== undefined)
      faults.push(failure instanceof Error ? `${failure.name}: ${failure.message}` : 'an error');
    const wrong = faults.length > (failure === undefined ? 0 : 1);
    const outcome = failure === undefined ? (keys.length > 0 ? 'filled' : 'skipped') : 'refused';
    results.push({ way, outcome: wrong ? 'wrong' : outcome, detail: faults.join('; ') });
  }
  process.stdout.write(`\n${JSON.stringify(results)}\n`);
  process.exit();
}
