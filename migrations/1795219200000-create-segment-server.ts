import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The database server that ranges were last taken from: what a promoted replica is told by. */
export class CreateSegmentServer1795219200000 implements MigrationInterface {
  readonly name = 'CreateSegmentServer1795219200000';

  async up(runner: QueryRunner): Promise<void> {
    const mysql = ['mysql', 'mariadb'].includes(runner.dataSource.options.type);
    await runner.query(
      `CREATE TABLE IF NOT EXISTS leaf_segment_server (
        id int NOT NULL PRIMARY KEY,
        server varchar(128) NOT NULL,
        largest_step bigint NOT NULL,
        update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP${mysql ? ' ON UPDATE CURRENT_TIMESTAMP' : ''}
      )${mysql ? ' ENGINE=InnoDB' : ''}`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE leaf_segment_server');
  }
}
