import type { DatabaseTarget } from '../database/database-url';

/** Of Leaf alone: an application in whose database it lives has a table of migrations of its own. */
export const MIGRATIONS_TABLE = 'leaf_migrations';

/**
 * As TypeORM makes it, but each migration is recorded once, and the statement is harmless when another node of a cluster
 * has carried it out already.
 */
export const CREATE_MIGRATIONS_TABLE: Readonly<Record<DatabaseTarget['dialect'], string>> = {
  mysql: `CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE} (
  id int NOT NULL AUTO_INCREMENT,
  timestamp bigint NOT NULL,
  name varchar(255) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY uk_name (name)
) ENGINE=InnoDB`,
  postgres: `CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE} (
  id serial PRIMARY KEY,
  timestamp bigint NOT NULL,
  name varchar(255) NOT NULL UNIQUE
)`,
  sqlite: `CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE} (
  id integer PRIMARY KEY AUTOINCREMENT NOT NULL,
  timestamp bigint NOT NULL,
  name varchar(255) NOT NULL UNIQUE
)`,
};
