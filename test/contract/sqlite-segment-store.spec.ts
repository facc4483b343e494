import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock, systemRandom } from '@leaf/core';
import { type LeafDataSource, openDatabase, parseDatabaseUrl, SqliteSegmentStore } from '@leaf/persistence';
import { segmentStoreContract } from './segment-store.contract';

segmentStoreContract('SqliteSegmentStore', {
  open: async () => {
    const directory = await mkdtemp(join(tmpdir(), 'leaf-store-'));
    const target = parseDatabaseUrl(`sqlite:${join(directory, 'leaf.sqlite')}`);
    const connect = (): Promise<LeafDataSource> =>
      openDatabase({ target, migrate: true, onCloseProblem: fail }, new SystemClock(), systemRandom);
    const [first, second] = [await connect(), await connect()];
    await first.query('DELETE FROM leaf_alloc');
    return {
      store: new SqliteSegmentStore(first, target.description),
      second: new SqliteSegmentStore(second, target.description),
      putRow: async (tag, maxId, step) => {
        await first.query('INSERT OR REPLACE INTO leaf_alloc (biz_tag, max_id, step) VALUES (?, ?, ?)', [
          tag,
          maxId,
          BigInt(step),
        ]);
      },
      readMaxId: async (tag) => {
        const rows = await second.query<{ max_id: string }[]>(
          'SELECT CAST(max_id AS TEXT) AS max_id FROM leaf_alloc WHERE biz_tag = ?',
          [tag],
        );
        return BigInt(rows[0]!.max_id);
      },
      close: async () => {
        await first.destroy();
        await second.destroy();
        await rm(directory, { recursive: true });
      },
    };
  },
});

function fail(step: string, problem: string): void {
  throw new Error(`${step}: ${problem}`);
}
