import type { MigrationInterface } from 'typeorm';
import type { SchemaRunner } from './schema-runner';

const COLUMNS = ['pattern varchar(128)', 'reissue int'];

/**
 * Each is created in one statement, with all its keys: a start that ends in between leaves no table without them.
 *
 * @param text the type of a column whose texts compare byte by byte, by their length
 */
function tables(text: (length: number, ascii?: boolean) => string): string[] {
  return [
    `leaf_number (
      biz_tag ${text(128, true)} NOT NULL,
      doc_key ${text(128)} NOT NULL,
      period ${text(16, true)} NOT NULL,
      number bigint NOT NULL,
      turn int NOT NULL,
      state ${text(16, true)} NOT NULL,
      issued_at bigint NOT NULL,
      issued_by ${text(64)} NOT NULL,
      settled_at bigint NULL,
      settled_by ${text(64)} NULL,
      reason ${text(256)} NULL,
      PRIMARY KEY (biz_tag, doc_key),
      UNIQUE (biz_tag, period, number, turn),
      UNIQUE (biz_tag, state, period, number, turn)
    )`,
    `leaf_number_journal (
      biz_tag ${text(128, true)} NOT NULL,
      period ${text(16, true)} NOT NULL,
      position bigint NOT NULL,
      event ${text(16, true)} NOT NULL,
      number bigint NOT NULL,
      turn int NOT NULL,
      doc_key ${text(128)} NOT NULL,
      at_time bigint NOT NULL,
      by_name ${text(64)} NOT NULL,
      reason ${text(256)} NULL,
      hash ${text(80, true)} NOT NULL,
      PRIMARY KEY (biz_tag, period, position),
      UNIQUE (biz_tag, period, number, position)
    )`,
    `leaf_number_head (
      biz_tag ${text(128, true)} NOT NULL,
      period ${text(16, true)} NOT NULL,
      next_number bigint NOT NULL,
      position bigint NOT NULL,
      hash ${text(80, true)} NOT NULL,
      issued_at bigint NOT NULL,
      epoch bigint NOT NULL,
      continued int NOT NULL,
      PRIMARY KEY (biz_tag, period)
    )`,
  ];
}

/**
 * Numbers without gaps. `leaf_number`: the number of each document. `leaf_number_journal`: every change, each line with
 * a hash over the one before. `leaf_number_head`: where the numbers and the journal of a period end, how often the
 * database had failed over when that was last certain, and how often somebody has said where to continue.
 *
 * `pattern` and `reissue` of `leaf_alloc`: settings of gapless tags.
 */
export class CreateNumbers1795219200012 implements MigrationInterface {
  readonly name = 'CreateNumbers1795219200012';

  async up(runner: SchemaRunner): Promise<void> {
    for (const column of COLUMNS) {
      const [name = ''] = column.split(' ');
      if (await runner.hasColumn('leaf_alloc', name)) continue;
      await runner.query(`ALTER TABLE leaf_alloc ADD COLUMN ${column} NULL`);
    }
    const isMysql = ['mysql', 'mariadb'].includes(runner.connection.options.type);
    const text = (length: number, ascii = false): string => {
      const set = ascii ? 'ascii COLLATE ascii_bin' : 'utf8mb4 COLLATE utf8mb4_bin';
      return `varchar(${length})${isMysql ? ` CHARACTER SET ${set}` : ''}`;
    };
    for (const table of tables(text)) {
      const [name = ''] = table.split(' ');
      if (await runner.hasColumn(name, 'biz_tag')) continue;
      await runner.query(`CREATE TABLE ${table}${isMysql ? ' ENGINE=InnoDB' : ''}`);
    }
  }

  /** Keeps the tables: they are the journal of documents. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
