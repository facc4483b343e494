import type { Statement } from '../../connections/sql-database';
import { GALERA_MEMBERS, GROUP_MEMBERS } from './cluster-members';
import { askOrigin, MEMBERSHIP, MYSQL_GUARD, NODE, otherSchemaMember, STANDALONE } from './mysql-guard';

/** A server with these variables; other statements read `row`. It answers what it is asked for. */
function server(variables: Record<string, string>, row?: Record<string, unknown>): Statement {
  const rows = Object.entries(variables).map(([Variable_name, Value]) => ({ Variable_name, Value }));
  return <Result>(sql: string) => {
    const names = /\((.*)\)/.exec(sql)?.[1]?.split(', ') ?? [];
    if (sql.startsWith('SHOW'))
      return Promise.resolve(rows.filter(({ Variable_name: name }) => names.includes(`'${name}'`)) as Result);
    const columns = Object.entries(row ?? {}).filter(([name]) => sql.includes(name));
    return Promise.resolve((row === undefined ? [] : [Object.fromEntries(columns)]) as Result);
  };
}

function failing(code: string): Error {
  return Object.assign(new Error('SELECT failed'), { code });
}

const MEMBER = { server_id: '1', server_uuid: 'f00', group_replication_group_name: 'aaaa' };
const NODE_OF_CLUSTER = { server_id: '7', wsrep_on: 'ON' };

describe('the identity of a MySQL server', () => {
  it.each([
    ['its UUID where it has one', { ...MEMBER, group_replication_group_name: '' }, {}, 'f00', STANDALONE],
    ['its server_id on old MariaDB', { server_id: '7' }, {}, 'server_id 7', "CONCAT('server_id ', @@global.server_id)"],
    ['what the node says on MariaDB', NODE_OF_CLUSTER, { node: 'galera a' }, 'galera a', NODE],
    ['what a MariaDB without a cluster says', NODE_OF_CLUSTER, { node: 'server_id 7' }, 'server_id 7', NODE],
    [
      'that of a cluster whose members it does not know',
      NODE_OF_CLUSTER,
      { node: 'galera a', members: null },
      'galera a',
      NODE,
    ],
    ['empty where it has no variable', {}, {}, 'server_id ', "CONCAT('server_id ', @@global.server_id)"],
    ['that of the cluster on TiDB', { server_id: '0', tidb_server_memory_limit: '80%' }, {}, 'tidb', "'tidb'"],
  ])('is %s', async (_, variables, row, name, expression) => {
    expect(await MYSQL_GUARD.askIdentity(server(variables, row))).toEqual({ server: name, expression });
    expect(await askOrigin(server(variables, row))).toBe(expression);
  });

  it('is its group in Group Replication, with the members of the record', async () => {
    const member = server(MEMBER, { membership: 'group 17', members: 'a' });
    const { server: name, expression, follow } = await MYSQL_GUARD.askIdentity(member);
    expect([name, follow]).toEqual(['group 17', expect.any(Function)]);
    expect(expression).toBe(`IF(${GROUP_MEMBERS.same}, ${MEMBERSHIP}, NULL)`);
    expect(await askOrigin(member)).toBe(MEMBERSHIP);
  });

  it.each<[string, Record<string, string>, Record<string, unknown> | undefined, RegExp]>([
    [
      'member of no group that has one configured',
      MEMBER,
      { membership: null, server: 'f00' },
      /^The database server f00 is configured for Group Replication .* Run START GROUP_REPLICATION/,
    ],
    [
      'server that does not say its group',
      MEMBER,
      undefined,
      /^The database server {2}is configured for Group Replication/,
    ],
    [
      'node outside its Galera cluster',
      NODE_OF_CLUSTER,
      { node: null, name: 7 },
      /^The database server with server_id 7 has wsrep_cluster_address set, but .* Set wsrep_on=ON/,
    ],
    [
      'node that says nothing',
      NODE_OF_CLUSTER,
      undefined,
      /^The database server with server_id {2}has wsrep_cluster_address/,
    ],
  ])('is refused for a %s', async (_, variables, row, text) => {
    const message = expect.stringMatching(text) as string;
    await expect(MYSQL_GUARD.askIdentity(server(variables, row))).rejects.toMatchObject({
      ...{ code: 'LEAF_STORE_UNAVAILABLE', message, retryAfterMs: 1000 },
      // The worker registry reports the cause.
      cause: { message },
    });
  });

  /** A member that answers the questions about its group with an error. */
  function limited(error: Error): Statement {
    const member = server(MEMBER);
    return (sql) => (sql.startsWith('SHOW') ? member(sql) : Promise.reject(error));
  }

  it.each<[string, (statement: Statement) => Promise<unknown>]>([
    ['its identity', (statement) => MYSQL_GUARD.askIdentity(statement)],
    ['the member for the schema', otherSchemaMember],
  ])('names the rights that it needs in a group for %s', async (_, ask) => {
    const denied = failing('ER_TABLEACCESS_DENIED_ERROR');
    const message = expect.stringContaining('SELECT on performance_schema.replication_group_members') as string;
    await expect(ask(limited(denied))).rejects.toMatchObject({
      ...{ code: 'LEAF_STORE_UNAVAILABLE', message },
      cause: { message, cause: denied },
    });
    for (const other of [failing('PROTOCOL_CONNECTION_LOST'), failing('ER_UNKNOWN')]) {
      await expect(ask(limited(other))).rejects.toBe(other);
    }
  });

  it('depends on what the server itself says', () => {
    const facts = (sql: string, ...names: string[]): void => {
      for (const name of names) expect(sql).toContain(name);
    };
    facts(STANDALONE, '@leaf_server <=> @@global.server_uuid', "'group_replication_group_name'");
    facts(MEMBERSHIP, 'stats.view_id', '@@global.server_uuid', "member.member_state = 'ONLINE'");
    facts(NODE, '@@global.wsrep_on AND @@session.wsrep_on', "CONCAT('galera ', @@global.wsrep_cluster_name)");
    facts(NODE, '@@global.wsrep_cluster_address', '@@global.server_id');
  });

  it('has one record, which is locked before it is compared', () => {
    const { insertRecord, lockRecord, database } = MYSQL_GUARD;
    expect(insertRecord).toMatch(/^INSERT IGNORE INTO leaf_segment_server .* VALUES \(1, \?, \?\)$/);
    expect(lockRecord).toMatch(/^SELECT server, generation FROM leaf_segment_server WHERE id = 1 FOR UPDATE$/);
    expect(database).toBe('DATABASE()');
  });
});

describe('the member of a group that changes the schema', () => {
  const member = { member_host: 'db2', member_port: 3306 };

  it.each([
    ['is this one', { ...member, here: 1 }, undefined],
    ['is this one, as a text', { ...member, here: '1' }, undefined],
    ['is another one', { ...member, here: 0 }, 'db2:3306'],
    ['is this one outside a group', undefined, undefined],
  ])('%s', async (_, row, expected) => {
    const asked: string[] = [];
    const statement = server({}, row);
    expect(
      await otherSchemaMember((sql) => {
        asked.push(sql);
        return statement(sql);
      }),
    ).toBe(expected);
    // The lowest ID, so that all members choose the same one.
    expect(asked[0]).toMatch(/member_state = 'ONLINE' AND member_role = 'PRIMARY' ORDER BY member_id LIMIT 1$/);
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
    const whole = cluster(A, undefined);
    const limited =
      (error: Error): Statement =>
      (sql) =>
        sql.includes('mysql.') ? Promise.reject(error) : whole(sql);
    const denied = limited(failing('ER_TABLEACCESS_DENIED_ERROR'));
    expect(await MYSQL_GUARD.askIdentity(denied)).toEqual({ server: 'galera a', expression: NODE });
    for (const other of [failing('PROTOCOL_CONNECTION_LOST'), failing('ER_UNKNOWN')]) {
      await expect(MYSQL_GUARD.askIdentity(limited(other))).rejects.toBe(other);
    }
    expect(await askOrigin(denied)).toBe(NODE);
    expect(await askOrigin(whole)).toBe(NODE);
    expect((await MYSQL_GUARD.askIdentity(whole)).expression).toBe(`IF(${GALERA_MEMBERS.same}, ${NODE}, NULL)`);
  });
});
