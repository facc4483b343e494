import type { Statement } from '../sql-database';
import { MYSQL_GUARD } from './mysql-guard-dialect';

/** A server that answers with these variables. */
function server(variables: Record<string, string>): Statement {
  const rows = Object.entries(variables).map(([Variable_name, Value]) => ({ Variable_name, Value }));
  return <Result>() => Promise.resolve(rows as Result);
}

describe('the identity of a MySQL server', () => {
  it('is its UUID where it has one', async () => {
    const variables = { server_id: '1', server_uuid: 'f00', group_replication_group_name: '' };
    const expression = '@@global.server_uuid';
    const expected = { server: 'f00', expression, multiPrimary: false, origin: expression };
    expect(await MYSQL_GUARD.askIdentity(server(variables))).toEqual(expected);
  });

  it('is its server_id on MariaDB', async () => {
    const identity = await MYSQL_GUARD.askIdentity(server({ server_id: '7', wsrep_on: 'OFF' }));
    expect(identity).toMatchObject({ server: 'server_id 7', multiPrimary: false });
  });

  it.each([
    [
      'Galera',
      { server_id: '7', wsrep_on: 'ON' },
      "IF(@@global.wsrep_on, CONCAT('galera ', @@global.wsrep_cluster_name), CONCAT('server_id ', @@global.server_id))",
    ],
    [
      'Group Replication',
      { server_id: '1', server_uuid: 'f00', group_replication_group_name: 'aaaa' },
      '@@global.group_replication_group_name',
    ],
    ['TiDB', { server_id: '0', tidb_server_memory_limit: '80%' }, "'tidb'"],
  ])('is that of the cluster on %s, where every node is current', async (_, variables, origin) => {
    expect(await MYSQL_GUARD.askIdentity(server(variables))).toMatchObject({ multiPrimary: true, origin });
  });
});
