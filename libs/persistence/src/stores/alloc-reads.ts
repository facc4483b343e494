import type { SelectQueryBuilder } from 'typeorm';
import type { SqlDatabase, SqlParameter } from '../connections/sql-database';
import { NO_PERIOD } from '../failover/move-forward';
import { LeafAlloc } from './stored-tag';
import type { TagDialect } from './tag-dialect';

/**
 * Reads tags through the repository of {@link LeafAlloc}, outside of transactions. The rows are plain objects, not instances of the class:
 * TypeORM takes longer to make one than the database to read it.
 *
 * @typeParam Name the columns that it reads
 */
export class AllocReads<Name extends keyof LeafAlloc> {
  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: TagDialect,
    private readonly columns: readonly Name[],
  ) {}

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE` */
  async find(tag: string): Promise<Pick<LeafAlloc, Name> | undefined> {
    const { thisTag, key } = this.dialect;
    const [row] = await this.read((query) => query.where(...named(thisTag, key(tag))));
    return row;
  }

  /**
   * The first tags by name, or the first ones after a tag; not the rows of periods.
   *
   * @param nameOf an expression for the name that decides on the order
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  page(after: string | undefined, size: number, nameOf = unchanged): Promise<Pick<LeafAlloc, Name>[]> {
    const name = nameOf('biz_tag');
    return this.read((query) => {
      const first = query.where(NO_PERIOD).orderBy(name).limit(size);
      return after === undefined ? first : first.andWhere(`${name} > ${nameOf(':after')}`, { after });
    });
  }

  private read(
    pick: (query: SelectQueryBuilder<LeafAlloc>) => SelectQueryBuilder<LeafAlloc>,
  ): Promise<Pick<LeafAlloc, Name>[]> {
    return this.database.read((manager) => {
      const query = manager.getRepository(LeafAlloc).createQueryBuilder('leaf_alloc').select([]);
      for (const name of this.columns) query.addSelect(`leaf_alloc.${name}`, name);
      return pick(query).getRawMany<Pick<LeafAlloc, Name>>();
    });
  }
}

function unchanged(name: string): string {
  return name;
}

/** A condition with the parameters that a query of TypeORM takes. */
function named(condition: string, values: readonly SqlParameter[]): [string, Record<string, SqlParameter>] {
  let count = 0;
  const sql = condition.replaceAll('?', () => `:value${count++}`);
  return [sql, Object.fromEntries(values.map((value, index) => [`value${index}`, value]))];
}
