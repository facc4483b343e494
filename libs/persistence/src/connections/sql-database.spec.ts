import { connect } from '../../../../test/support/contract/sql-stores';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';

describe('SqlDatabase on SQLite', () => {
  let database: LeafDataSource;
  beforeEach(async () => {
    database = await connect(parseDatabaseUrl('sqlite::memory:'));
  });
  afterEach(() => database.destroy());

  /** Fails a read `times` times; how often it was called. */
  async function callsOf(failure: Error, times: number): Promise<number> {
    let calls = 0;
    const read = (): Promise<number> => (++calls > times ? Promise.resolve(calls) : Promise.reject(failure));
    await database.access.read(read).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    });
    return calls;
  }

  it('repeats a read a few times after an error that the driver does not name', async () => {
    expect(await callsOf(new TypeError('of the driver'), 1000)).toBe(4);
  });

  it('repeats it as long as another process writes to the file', async () => {
    expect(await callsOf(Object.assign(new Error('busy'), { code: 'SQLITE_BUSY' }), 9)).toBe(10);
  });

  it('does not repeat a statement that is wrong', async () => {
    expect(await callsOf(Object.assign(new Error('no such table'), { code: 'SQLITE_ERROR' }), 9)).toBe(1);
  });
});
