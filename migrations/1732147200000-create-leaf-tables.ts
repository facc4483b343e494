import type { MigrationInterface, QueryRunner } from 'typeorm';
import type { SchemaRunner } from './schema-runner';

const SQLITE = [
  `CREATE TABLE IF NOT EXISTS leaf_alloc (
    biz_tag varchar(128) NOT NULL DEFAULT '' PRIMARY KEY,
    max_id bigint NOT NULL DEFAULT 1,
    step int NOT NULL,
    description varchar(256) NULL,
    update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP
  )`,
  `CREATE TABLE IF NOT EXISTS leaf_workerid_alloc (
    id integer PRIMARY KEY AUTOINCREMENT,
    ip varchar(127) NULL,
    port varchar(127) NULL,
    ip_port varchar(127) NOT NULL UNIQUE,
    max_timestamp bigint NULL,
    lease_id varchar(64) NULL,
    create_time timestamp NULL,
    update_time timestamp NULL
  )`,
];

const MYSQL = [
  `CREATE TABLE IF NOT EXISTS leaf_alloc (
    biz_tag varchar(128) NOT NULL DEFAULT '',
    max_id bigint(20) NOT NULL DEFAULT 1,
    step int(11) NOT NULL,
    description varchar(256) DEFAULT NULL,
    update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
    PRIMARY KEY (biz_tag)
  ) ENGINE=InnoDB`,
  `CREATE TABLE IF NOT EXISTS leaf_workerid_alloc (
    id bigint(20) NOT NULL AUTO_INCREMENT,
    ip varchar(127) DEFAULT NULL,
    port varchar(127) DEFAULT NULL,
    ip_port varchar(127) NOT NULL,
    max_timestamp bigint(20) DEFAULT NULL,
    lease_id varchar(64) DEFAULT NULL,
    create_time timestamp NULL DEFAULT NULL,
    update_time timestamp NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP,
    PRIMARY KEY (id),
    UNIQUE KEY uk_ip_port (ip_port)
  ) ENGINE=InnoDB`,
];

const POSTGRES = [
  SQLITE[0] as string,
  `CREATE TABLE IF NOT EXISTS leaf_workerid_alloc (
    id bigserial PRIMARY KEY,
    ip varchar(127) NULL,
    port varchar(127) NULL,
    ip_port varchar(127) NOT NULL UNIQUE,
    max_timestamp bigint NULL,
    lease_id varchar(64) NULL,
    create_time timestamp NULL,
    update_time timestamp NULL
  )`,
];

const STATEMENTS: Readonly<Record<string, readonly string[]>> = {
  'better-sqlite3': SQLITE,
  mysql: MYSQL,
  mariadb: MYSQL,
  postgres: POSTGRES,
};

/**
 * The tables of the Java service, column for column. Existing tables stay unchanged.
 */
export class CreateLeafTables1732147200000 implements MigrationInterface {
  readonly name = 'CreateLeafTables1732147200000';

  async up(runner: SchemaRunner): Promise<void> {
    const { type } = runner.connection.options;
    const statements = STATEMENTS[type];
    if (statements === undefined) throw new Error(`unsupported database type ${type}`);
    for (const statement of statements) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE leaf_workerid_alloc');
    await runner.query('DROP TABLE leaf_alloc');
  }
}
