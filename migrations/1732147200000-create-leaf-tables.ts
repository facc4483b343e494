import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The tables of the Java service, column for column, and a first tag to try. Existing tables are used as they are.
 */
export class CreateLeafTables1732147200000 implements MigrationInterface {
  readonly name = 'CreateLeafTables1732147200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE TABLE IF NOT EXISTS leaf_alloc (
      biz_tag varchar(128) NOT NULL DEFAULT '' PRIMARY KEY,
      max_id bigint NOT NULL DEFAULT 1,
      step int NOT NULL,
      description varchar(256) NULL,
      update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP
    )`);
    await runner.query(`CREATE TABLE IF NOT EXISTS leaf_workerid_alloc (
      id integer PRIMARY KEY AUTOINCREMENT,
      ip varchar(127) NULL,
      port varchar(127) NULL,
      ip_port varchar(127) NOT NULL UNIQUE,
      max_timestamp bigint NULL,
      lease_id varchar(64) NULL,
      create_time timestamp NULL,
      update_time timestamp NULL
    )`);
    await runner.query(`INSERT INTO leaf_alloc (biz_tag, max_id, step, description)
      SELECT 'leaf-segment-test', 1, 2000, 'Test leaf Segment Mode Get Id'
      WHERE NOT EXISTS (SELECT 1 FROM leaf_alloc)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE leaf_workerid_alloc');
    await runner.query('DROP TABLE leaf_alloc');
  }
}
