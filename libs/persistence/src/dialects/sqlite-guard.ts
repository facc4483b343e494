import type { GuardDialect } from '../failover/failover-guard';

/** A file has no replicas: the record shows whether the file was replaced by an older one. */
export const SQLITE_GUARD: GuardDialect = {
  askIdentity: () => Promise.resolve({ server: 'sqlite', expression: "'sqlite'" }),
  insertRecord:
    'INSERT INTO leaf_segment_server (id, server, largest_step) VALUES (1, ?, ?) ON CONFLICT (id) DO NOTHING',
  lockRecord: 'SELECT server, generation FROM leaf_segment_server WHERE id = 1',
};
