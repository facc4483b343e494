import 'reflect-metadata';
import Libsql from 'libsql';
import { DataSource } from 'typeorm';
import { database } from './harness.js';

const { kind, url } = database;
const common = { synchronize: true };

function driver(path: string, options: Libsql.Options): Libsql.Database {
  return new Libsql(path, options);
}

const sqlite = {
  ...common,
  type: 'better-sqlite3',
  driver,
  database: url,
  prepareDatabase: (opened: Libsql.Database): void => void opened.defaultSafeIntegers(true),
} as const;

export const dataSource = new DataSource(
  kind === 'sqlite' ? sqlite : { ...common, type: kind === 'mariadb' ? 'mysql' : 'postgres', url },
);
