import type { MigrationInterface, QueryRunner } from 'typeorm';
import type { SchemaRunner } from './schema-runner';

/**
 * `leaf_segment_server`: the database server of the last allocation, to detect the promotion of a replica.
 * `leaf_deleted_tag`: the first unallocated ID of each deleted tag, so that a new tag with its name does not repeat
 * IDs.
 */
export class CreateSegmentServer1795219200000 implements MigrationInterface {
  readonly name = 'CreateSegmentServer1795219200000';

  async up(runner: SchemaRunner): Promise<void> {
    const mysql = ['mysql', 'mariadb'].includes(runner.connection.options.type);
    const engine = mysql ? ' ENGINE=InnoDB' : '';
    await runner.query(
      `CREATE TABLE IF NOT EXISTS leaf_segment_server (
        id int NOT NULL PRIMARY KEY,
        server varchar(128) NOT NULL,
        largest_step bigint NOT NULL,
        update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP${mysql ? ' ON UPDATE CURRENT_TIMESTAMP' : ''}
      )${engine}`,
    );
    await runner.query(
      `CREATE TABLE IF NOT EXISTS leaf_deleted_tag (
        biz_tag varchar(128)${mysql ? ' CHARACTER SET ascii COLLATE ascii_bin' : ''} NOT NULL PRIMARY KEY,
        max_id bigint NOT NULL,
        delete_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP
      )${engine}`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE leaf_deleted_tag');
    await runner.query('DROP TABLE leaf_segment_server');
  }
}
