import { rename, rm, writeFile } from 'node:fs/promises';
import { POOL_WORKERS } from '@leaf-ids/persistence';
import { SQLITE_HOST, startSqlite, WorkerTables } from '../../support/servers/worker-databases';
import { sqlWorkerRegistryContract } from '../../support/contract/sql-worker-registry.contract';
import { RECORD, sqlWorkerStoreContract } from '../../support/contract/sql-worker-store.contract';

sqlWorkerStoreContract([SQLITE_HOST]);
sqlWorkerRegistryContract([SQLITE_HOST]);

describe('workers in an SQLite file', () => {
  it.each(['removed', 'replaced'])('that was %s are not written', async (what) => {
    const tables = await WorkerTables.create(startSqlite);
    const file = ('file' in tables.target && tables.target.file) || '';
    const store = tables.store(POOL_WORKERS);
    const made = await store.create(await store.readRegistry(), RECORD, 7);
    await rename(file, `${file}.old`);
    if (what === 'replaced') await writeFile(file, '');
    const lost = { code: 'LEAF_LEASE_LOST', message: expect.stringContaining(file) as string };
    await expect(store.replace(made!, { ...RECORD, write: 2 })).rejects.toMatchObject(lost);
    await rm(file, { force: true });
    await rename(`${file}.old`, file);
    expect(await store.replace(made!, { ...RECORD, write: 2 })).toBeDefined();
    await store.close();
    await tables.stop();
  });
});
