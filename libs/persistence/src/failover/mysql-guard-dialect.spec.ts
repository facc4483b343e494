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
    const expected = { server: 'f00', expression: '@@global.server_uuid', multiPrimary: false };
    expect(await MYSQL_GUARD.askIdentity(server(variables))).toEqual(expected);
  });

  it('is its server_id on MariaDB', async () => {
    const identity = await MYSQL_GUARD.askIdentity(server({ server_id: '7', wsrep_on: 'OFF' }));
    expect(identity).toMatchObject({ server: 'server_id 7', multiPrimary: false });
  });

  it.each([
    ['Galera', { server_id: '7', wsrep_on: 'ON' }],
    ['Group Replication', { server_id: '1', server_uuid: 'f00', group_replication_group_name: 'aaaa' }],
    ['TiDB', { server_id: '0', tidb_server_memory_limit: '80%' }],
  ])('does not matter on %s, where every node is current', async (_, variables) => {
    expect(await MYSQL_GUARD.askIdentity(server(variables))).toMatchObject({ multiPrimary: true });
  });
});
