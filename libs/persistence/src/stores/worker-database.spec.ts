import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LeafError, type LeafErrorCode } from '@leaf-ids/core';
import { connect } from '../../../../test/support/contract/sql-stores';
import type { SqlDatabase } from '../connections/sql-database';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import { sqlite } from '../dialects/sqlite/sqlite';
import { RegistryDatabase } from './worker-database';

describe('RegistryDatabase', () => {
  let directory: string;
  let file: string;
  let database: LeafDataSource;
  let closed: number;
  beforeEach(async () => {
    closed = 0;
    directory = await mkdtemp(join(tmpdir(), 'leaf-registry-'));
    file = join(directory, 'workers.sqlite');
    await writeFile(file, '');
    database = await connect(parseDatabaseUrl('sqlite::memory:'));
  });
  afterEach(async () => {
    await database.destroy();
    await rm(directory, { recursive: true });
  });

  function registryOf(
    path?: string,
    open = (): Promise<LeafDataSource> => Promise.resolve(database),
  ): RegistryDatabase {
    return new RegistryDatabase({
      dialect: sqlite,
      target: { description: 'the database', file: path },
      open,
      close: () => {
        closed++;
        return Promise.resolve();
      },
    });
  }
  const ask = (access: SqlDatabase): Promise<{ one: number }[]> => access.run('SELECT 1 AS one', []);
  const ONE = [{ one: 1 }];
  const lost = {
    code: 'LEAF_LEASE_LOST',
    get message(): string {
      return `The file ${file} of the worker registry was removed or replaced while this server had it open. Restart the servers that use it, and do not touch the file while servers run.`;
    },
  };

  it('reads and writes, and closes the database', async () => {
    for (const registry of [registryOf(), registryOf(file)]) {
      expect(registry.description).toBe('the database');
      expect([await registry.run(ask), await registry.write(ask), await registry.write(ask)]).toEqual([ONE, ONE, ONE]);
      await registry.close();
    }
    expect(closed).toBe(2);
  });

  it('writes no file that was removed or replaced since it was opened, and still reads it', async () => {
    const registry = registryOf(file);
    await registry.write(ask);
    await rename(file, `${file}.old`);
    await expect(registry.write(ask)).rejects.toMatchObject(lost);
    await writeFile(file, '');
    await expect(registry.write(ask)).rejects.toMatchObject(lost);
    expect(await registry.run(ask)).toEqual(ONE);
    await rename(`${file}.old`, file);
    expect(await registry.write(ask)).toEqual(ONE);
  });

  it('writes no file that did not exist when it was opened', async () => {
    await rm(file);
    const registry = registryOf(file);
    await expect(registry.write(ask)).rejects.toMatchObject(lost);
    await writeFile(file, '');
    await expect(registry.write(ask)).rejects.toMatchObject(lost);
  });

  it('tells a file that it cannot look at from one that is gone, and tries again', async () => {
    const below = join(file, 'workers.sqlite');
    const registry = registryOf(below);
    await expect(registry.run(ask)).rejects.toMatchObject({
      code: 'LEAF_REGISTRY_UNREACHABLE',
      message: expect.stringMatching(
        /^The file \S+ of the worker registry cannot be accessed: .*ENOTDIR.*\. The server retries by itself\.$/,
      ) as string,
      cause: expect.objectContaining({ code: 'ENOTDIR' }) as unknown,
      retryAfterMs: 1000,
    });
    await rm(file);
    await mkdir(file);
    await writeFile(below, '');
    expect(await registry.write(ask)).toEqual(ONE);
  });

  describe('whose database fails', () => {
    const full = Object.assign(new Error('full'), { code: 'SQLITE_FULL' });
    const readOnly = new Error('beneath', { cause: Object.assign(new Error('read'), { code: 'SQLITE_READONLY' }) });
    const failing = (code: LeafErrorCode, cause: Error): LeafError => new LeafError(code, 'failed', { cause });
    const UNREACHABLE = {
      code: 'LEAF_REGISTRY_UNREACHABLE',
      message:
        'The worker registry in the database does not respond; the cause is in the log of this server. The server retries by itself. Check that the database is up, reachable and writable.',
      retryAfterMs: 1000,
    };
    const BY_HAND = {
      code: 'LEAF_CONFIG_INVALID',
      message:
        'The worker registry in the database cannot be used: this user cannot write to the database file. The database error is in the log of this server.',
    };

    it.each([
      ['while it is down', failing('LEAF_STORE_UNAVAILABLE', full), UNREACHABLE],
      ['when a call is refused', failing('LEAF_STORE_UNAVAILABLE', readOnly), BY_HAND],
      ['when it cannot be opened', failing('LEAF_DATABASE_UNUSABLE', readOnly), BY_HAND],
    ])('says what to do %s', async (_, error, expected) => {
      const cause: unknown = error.cause;
      await expect(registryOf(undefined, () => Promise.reject(error)).run(ask)).rejects.toMatchObject({
        ...expected,
        cause,
      });
      await expect(registryOf(file).write(() => Promise.reject(error))).rejects.toMatchObject(expected);
    });

    it.each([
      ['a database that cannot be used', failing('LEAF_DATABASE_UNUSABLE', full)],
      ['a lost lease', failing('LEAF_LEASE_LOST', readOnly)],
      ['a mistake in the code', new TypeError('a mistake', { cause: readOnly })],
    ])('keeps the error of %s', async (_, error) => {
      await expect(registryOf().run(() => Promise.reject(error))).rejects.toBe(error);
    });
  });
});
