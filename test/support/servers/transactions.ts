import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { Client } from 'pg';
import type { TransactionStatement } from '@leaf-ids/core';

/** A transaction of a driver, without an ORM. */
export interface Transaction {
  readonly statement: TransactionStatement;
  end(how: 'COMMIT' | 'ROLLBACK'): Promise<void>;
  /** Closes the connection, whatever its state. */
  close(): void;
}

export function beginTransaction(url: string): Promise<Transaction> {
  return url.startsWith('mysql:') ? beginMysql(url) : beginPostgres(url);
}

async function beginMysql(url: string): Promise<Transaction> {
  const connection = await createConnection(url);
  connection.on('error', () => undefined);
  await connection.beginTransaction();
  return {
    statement: async <Rows>(sql: string, values: unknown[] = []) =>
      (await connection.query<RowDataPacket[]>(sql, values))[0] as Rows,
    end: async (how) => {
      await connection.query(how);
      await connection.end();
    },
    close: () => connection.destroy(),
  };
}

async function beginPostgres(url: string): Promise<Transaction> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('BEGIN');
  return {
    statement: async <Rows>(sql: string, values: unknown[] = []) => (await client.query(sql, values)).rows as Rows,
    end: async (how) => {
      await client.query(how);
      await client.end();
    },
    close: () => void client.end().catch(() => undefined),
  };
}
