import type { MigrationInterface, QueryRunner } from 'typeorm';
import type { SchemaRunner } from './schema-runner';

/**
 * `leaf_worker_pool`: one row for each worker ID of the pool, with the columns of `leaf_workerid_alloc`.
 * `leaf_registry`: one JSON document about the worker registry of this database, used to detect data loss.
 */
export class CreateWorkerPool1795219200002 implements MigrationInterface {
  readonly name = 'CreateWorkerPool1795219200002';

  async up(runner: SchemaRunner): Promise<void> {
    const mysql = ['mysql', 'mariadb'].includes(runner.connection.options.type);
    const engine = mysql ? ' ENGINE=InnoDB' : '';
    const ascii = mysql ? ' CHARACTER SET ascii COLLATE ascii_bin' : '';
    const binary = mysql ? ' CHARACTER SET utf8mb4 COLLATE utf8mb4_bin' : '';
    await runner.query(
      `CREATE TABLE IF NOT EXISTS leaf_worker_pool (
        id int NOT NULL PRIMARY KEY,
        ip varchar(127)${ascii} NULL,
        port varchar(127)${ascii} NULL,
        ip_port varchar(127)${ascii} NOT NULL,
        max_timestamp bigint NOT NULL,
        lease_id varchar(64)${ascii} NULL,
        create_time timestamp NULL,
        update_time timestamp NULL
      )${engine}`,
    );
    await runner.query(
      `CREATE TABLE IF NOT EXISTS leaf_registry (
        name varchar(64)${ascii} NOT NULL PRIMARY KEY,
        document text${binary} NOT NULL,
        update_time timestamp NULL
      )${engine}`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE leaf_registry');
    await runner.query('DROP TABLE leaf_worker_pool');
  }
}
