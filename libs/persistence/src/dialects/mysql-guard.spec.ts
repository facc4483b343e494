import type { Statement } from '../connections/sql-database';
import { askOrigin, MEMBERSHIP, MYSQL_GUARD, NODE, STANDALONE } from './mysql-guard';

/** A server with these variables; every other statement returns `row`. */
function server(variables: Record<string, string>, row: Record<string, unknown> = {}): Statement {
  const rows = Object.entries(variables).map(([Variable_name, Value]) => ({ Variable_name, Value }));
  return <Result>(sql: string) => Promise.resolve((sql.startsWith('SHOW') ? rows : [row]) as Result);
}

const MEMBER = { server_id: '1', server_uuid: 'f00', group_replication_group_name: 'aaaa' };
const NODE_OF_CLUSTER = { server_id: '7', wsrep_on: 'ON' };

describe('the identity of a MySQL server', () => {
  it.each([
    ['its UUID where it has one', { ...MEMBER, group_replication_group_name: '' }, {}, 'f00', STANDALONE],
    ['its server_id on old MariaDB', { server_id: '7' }, {}, 'server_id 7', "CONCAT('server_id ', @@global.server_id)"],
    ['what the node says on MariaDB', NODE_OF_CLUSTER, { node: 'galera a' }, 'galera a', NODE],
    ['that of the cluster on TiDB', { server_id: '0', tidb_server_memory_limit: '80%' }, {}, 'tidb', "'tidb'"],
  ])('is %s', async (_, variables, row, name, expression) => {
    expect(await MYSQL_GUARD.askIdentity(server(variables, row))).toEqual({ server: name, expression });
  });

  it('is its group in Group Replication, with the members of the record', async () => {
    const member = server(MEMBER, { membership: 'group 17', members: 'a' });
    const { server: name, expression, follow } = await MYSQL_GUARD.askIdentity(member);
    expect([name, follow]).toEqual(['group 17', expect.any(Function)]);
    expect(expression).toContain(MEMBERSHIP);
    expect(expression).not.toBe(MEMBERSHIP);
    expect(await askOrigin(member)).toBe(MEMBERSHIP);
  });

  it.each([
    [
      'member of no group that has one configured',
      MEMBER,
      { membership: null, server: 'f00' },
      'START GROUP_REPLICATION',
    ],
    ['node outside its Galera cluster', NODE_OF_CLUSTER, { node: null, name: 7 }, 'wsrep_on=ON'],
  ])('is refused for a %s', async (_, variables, row, advice) => {
    await expect(MYSQL_GUARD.askIdentity(server(variables, row))).rejects.toMatchObject({
      code: 'LEAF_STORE_UNAVAILABLE',
      message: expect.stringContaining(advice) as string,
    });
  });

  it('names the rights that it needs in a group', async () => {
    const denied = Object.assign(new Error('SELECT command denied'), { code: 'ER_TABLEACCESS_DENIED_ERROR' });
    const member = server(MEMBER);
    const limited: Statement = (sql) => (sql.startsWith('SHOW') ? member(sql) : Promise.reject(denied));
    await expect(MYSQL_GUARD.askIdentity(limited)).rejects.toMatchObject({
      code: 'LEAF_STORE_UNAVAILABLE',
      message: expect.stringContaining('SELECT on performance_schema.replication_group_members') as string,
    });
  });
});

describe('a Galera cluster', () => {
  const A = 'aaaaaaaa0001';
  const B = 'bbbbbbbb0001';
  const C = 'cccccccc0001';

  /** A node that sees `members`, with the record of others; gathers what is written. */
  function cluster(members: string, recorded: string | undefined, written: unknown[] = []): Statement {
    return <Result>(sql: string, parameters: unknown[] = []) => {
      if (sql.startsWith('INSERT')) written.push(...parameters);
      if (sql.startsWith('SHOW')) return server(NODE_OF_CLUSTER)<Result>(sql);
      if (sql.endsWith('FOR UPDATE')) {
        return Promise.resolve((recorded === undefined ? [] : [{ server: recorded }]) as Result);
      }
      return Promise.resolve([{ node: 'galera a', members }] as Result);
    };
  }

  it.each([
    ['was never seen', undefined, `${A} ${B}`, true],
    ['has lost one of three nodes', `${A} ${B} ${C}`, `${A} ${B}`, true],
    ['has got a node', A, `${A} ${B}`, true],
    ['has two of three nodes left, one of them started again', `${A} ${B} ${C}`, `${A} ${B} cccccccc0002`, true],
    ['has one of three nodes left', `${A} ${B} ${C}`, A, false],
    ['has one of two nodes left', `${A} ${B}`, A, false],
    ['was started again, all nodes', `${A} ${B}`, 'aaaaaaaa0002 bbbbbbbb0002', false],
  ])('that %s has all commits, or may lack some', async (_, recorded, members, isWhole) => {
    const written: unknown[] = [];
    const statement = cluster(members, recorded, written);
    const { follow } = await MYSQL_GUARD.askIdentity(statement);
    expect(await follow?.(statement, false)).toBe(isWhole);
    expect(written).toEqual(isWhole ? [members] : []);
    expect(await follow?.(statement, true)).toBe(isWhole);
    expect(written.at(-1)).toBe(members);
  });

  it('is known by its name alone to a user who cannot read its members, and to the worker registry', async () => {
    const denied = Object.assign(new Error('SELECT command denied'), { code: 'ER_TABLEACCESS_DENIED_ERROR' });
    const whole = cluster(A, undefined);
    const limited: Statement = (sql) => (sql.includes('mysql.') ? Promise.reject(denied) : whole(sql));
    expect(await MYSQL_GUARD.askIdentity(limited)).toEqual({ server: 'galera a', expression: NODE });
    expect(await askOrigin(whole)).toBe(NODE);
    expect((await MYSQL_GUARD.askIdentity(whole)).expression).not.toBe(NODE);
  });
});
