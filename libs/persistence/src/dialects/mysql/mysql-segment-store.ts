import { type Allocation, type AllocationRequest, LeafError } from '@leaf-ids/core';
import { allocatable } from '../../stores/alloc-row';
import type { SqlParameter, SqlStatement } from '../../connections/sql-database';
import { SqlSegmentStore } from '../../stores/sql-segment-store';
import { POSITION, setPosition } from '../../failover/move-forward';
import { MYSQL_TAGS } from './mysql-statements';

interface Updated {
  readonly affectedRows: number;
}

interface Found {
  readonly step: number;
  readonly max_step: number | null;
  /** Decimal: LAST_INSERT_ID, which the result of the UPDATE omits when the table has a trigger. */
  readonly end_id: string;
  readonly called: number | string | null;
}

const { thisTag: THIS_TAG, deletedTag } = MYSQL_TAGS;
const ALLOCATABLE = allocatable('?', deletedTag);
/** Reads a session variable, because statement-based replication copies its value instead of its expression. */
const IS_SERVER = 'CAST(server AS BINARY) = CAST(@leaf_server AS BINARY)';

/**
 * Segment ranges from `leaf_alloc` in MySQL or MariaDB. An allocation sends an UPDATE, which leaves the new position in
 * LAST_INSERT_ID, and a SELECT of the step in one round trip. The caller always passes the size, so that a concurrent
 * change of the step cannot shift the range.
 */
export class MysqlSegmentStore extends SqlSegmentStore {
  private calls = 0;

  protected async update(sql: string, parameters: SqlParameter[], guarded: boolean): Promise<boolean> {
    const server = guarded ? this.guard.expression : undefined;
    const condition = guarded ? this.guard.condition(IS_SERVER) : '';
    const answers = await this.database.runTogether(
      [
        { sql: `SET @leaf_server = ${server ?? 'NULL'}`, parameters: [] },
        { sql: `${sql} ${condition}`, parameters },
      ],
      'refused',
    );
    return (answers.at(-1) as Updated).affectedRows > 0;
  }

  protected async tryAllocate(tag: string, size: number | undefined): Promise<Allocation | undefined> {
    const count = size ?? (await this.step(tag));
    if (count === undefined) return undefined;
    const [allocation] = await this.allocateTogether([{ tag, size: count }]);
    return allocation;
  }

  /**
   * Each UPDATE is a separate transaction. A common transaction would stay open after a failure half way, so that later
   * statements on the connection would not be committed; it would also lock all rows until its end. The cost is one log
   * write of the database for each tag.
   */
  protected override async tryAllocateAll(
    requests: readonly AllocationRequest[],
    granted: Map<string, Allocation>,
  ): Promise<void> {
    const allocations = await this.allocateTogether(requests);
    requests.forEach(({ tag }, index) => {
      const allocation = allocations[index];
      if (allocation !== undefined) granted.set(tag, allocation);
    });
  }

  protected async insert({ sql, parameters }: SqlStatement): Promise<void> {
    await this.update(`INSERT IGNORE INTO ${sql}`, [...parameters], true);
  }

  /**
   * An element is undefined when its UPDATE changed no row: the guard refused it, or the row is missing or unusable.
   */
  private async allocateTogether(requests: readonly AllocationRequest[]): Promise<(Allocation | undefined)[]> {
    const { expression } = this.guard;
    const condition = this.guard.condition(IS_SERVER);
    const calls = requests.map((request) => ({ ...request, call: ++this.calls }));
    const answers = await this.database.runTogether([
      { sql: `SET @leaf_server = ${expression ?? 'NULL'}`, parameters: [] },
      ...calls.flatMap((call) => allocation(call, condition)),
    ]);
    return calls.map((call, index) => {
      const [, updated, found] = answers.slice(1 + 3 * index);
      return toAllocation(call, updated as Updated, found as readonly Found[], this.description);
    });
  }

  private async step(tag: string): Promise<number | undefined> {
    const step = (await this.rows(tag))[0]?.step ?? 0;
    return step > 0 ? step : undefined;
  }
}

interface Call extends AllocationRequest {
  readonly call: number;
}

/**
 * Three statements: number the call and reset LAST_INSERT_ID; an UPDATE that leaves the new position there; a query of
 * both values. A wrong number, or 0 in LAST_INSERT_ID, reveals a proxy that sends them to different connections.
 */
function allocation({ tag, size, call }: Call, guard: string): SqlStatement[] {
  const count = BigInt(size);
  return [
    { sql: 'SET @leaf_call = LAST_INSERT_ID(0) + ?', parameters: [call] },
    {
      sql: `UPDATE leaf_alloc SET ${setPosition(`LAST_INSERT_ID(${POSITION} + ?)`)}
        WHERE ${THIS_TAG} AND ${ALLOCATABLE} ${guard}`,
      parameters: [count, count, tag, tag, count, count, tag],
    },
    {
      sql: `SELECT step, max_step, @leaf_call AS called, CAST(LAST_INSERT_ID() AS CHAR) AS end_id FROM leaf_alloc WHERE ${THIS_TAG}`,
      parameters: [tag, tag],
    },
  ];
}

/**
 * @returns undefined when the UPDATE has not changed exactly one row
 * @throws LeafError `LEAF_DATABASE_UNUSABLE` when the statements did not run on one connection
 */
function toAllocation(
  { size, call }: Call,
  { affectedRows }: Updated,
  [row]: readonly Found[],
  description: string,
): Allocation | undefined {
  if (affectedRows !== 1 || row === undefined) return undefined;
  const end = BigInt(row.end_id);
  if (end === 0n || Number(row.called) !== call) {
    throw new LeafError(
      'LEAF_DATABASE_UNUSABLE',
      `A proxy in front of ${description} sends the statements of one session to different server connections, so Leaf cannot allocate IDs through it. Configure the proxy to keep a session on one server connection (ProxySQL: multiplexing off), or connect to the database directly.`,
    );
  }
  return { from: end - BigInt(size), to: end - 1n, step: row.step, maxStep: row.max_step ?? undefined };
}
