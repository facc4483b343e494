import {
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { loadSqlite, mountPointsOf, onePath, pathFault, provideDatabaseFile, SqliteFiles } from './sqlite-file';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'leaf-sqlite-file-')));
  file = join(directory, 'leaf.sqlite');
});
afterEach(() => rm(directory, { recursive: true }));

describe('a new database file', () => {
  it('has its log mode, and no other name', async () => {
    await provideDatabaseFile(file);
    expect(await readdir(directory)).toEqual(['leaf.sqlite']);
    // Bytes 18 and 19 of the header are 2 for a database with a write-ahead log.
    expect([...(await readFile(file)).subarray(18, 20)]).toEqual([2, 2]);
  });

  it('is not made where there is one', async () => {
    await writeFile(file, 'something');
    await utimes(directory, 1, 1);
    await provideDatabaseFile(file);
    expect(await readFile(file, 'utf8')).toBe('something');
    // Nothing was made beside it, either.
    expect((await stat(directory)).mtimeMs).toBe(1000);
  });

  it('is the same one for all who make it at once', async () => {
    await Promise.all(Array.from({ length: 4 }, () => provideDatabaseFile(file)));
    expect(await readdir(directory)).toEqual(['leaf.sqlite']);
    expect((await stat(file)).size).toBeGreaterThan(0);
  });

  it('does not replace an empty one, which a fault of the disk may have left', async () => {
    await writeFile(file, '');
    await expect(provideDatabaseFile(file)).rejects.toThrow('file is damaged: it exists, but is empty');
    expect((await stat(file)).size).toBe(0);
  });

  it('needs its directory', async () => {
    const made = provideDatabaseFile(join(directory, 'missing', 'leaf.sqlite'));
    await expect(made).rejects.toThrow(/unable to open/i);
    expect(await readdir(directory)).toStrictEqual([]);
  });
});

describe('the path of a database file', () => {
  it('is the same by whichever symbolic link, before there is a file and afterwards', async () => {
    await mkdir(join(directory, 'data'));
    await symlink(join(directory, 'data'), join(directory, 'linked'));
    const one = join(directory, 'data', 'leaf.sqlite');
    const paths = [one, join(directory, 'linked', 'leaf.sqlite')];
    expect(paths.map(onePath)).toEqual([one, one]);
    await writeFile(one, '');
    await symlink(one, join(directory, 'other.sqlite'));
    expect([...paths, join(directory, 'other.sqlite')].map(onePath)).toEqual([one, one, one]);
  });

  it('need not exist', () => {
    expect(onePath(join(directory, 'missing', '..', 'none', 'leaf.sqlite'))).toBe(join(directory, 'none/leaf.sqlite'));
  });

  it('is one of several, which is refused, when the file has several names', async () => {
    await writeFile(file, '');
    expect(pathFault(file, [])).toBeUndefined();
    await link(file, join(directory, 'second.sqlite'));
    expect(pathFault(file, [])).toBe(
      'file has several names (hard links), each with a log of its own; keep one of them',
    );
  });

  it('does not count the name under which the file was made', async () => {
    await writeFile(file, '');
    await link(file, `${file}.1.new`);
    expect(pathFault(file, [])).toBeUndefined();
    // Of other files.
    await writeFile(`${file}.2.new`, '');
    await symlink(join(directory, 'missing'), `${file}.3.new`);
    expect(pathFault(file, [])).toBeUndefined();
    for (const name of ['leaf.sqlite2.new', 'leaf.sqlite.old']) {
      await link(file, join(directory, name));
      expect(pathFault(file, [])).toContain('several names');
      await rm(join(directory, name));
    }
  });

  it('is not a mount point', async () => {
    await writeFile(file, '');
    expect(pathFault(file)).toBeUndefined();
    expect(pathFault(file, [directory, file])).toBe(
      'file itself is a mount point, and its log is outside of it; mount its directory',
    );
  });

  it('is found in the list of mount points', () => {
    const lines = [
      '36 35 98:0 /mnt1 /data/my\\040leaf.sqlite rw,noatime master:1 - ext3 /dev/root rw',
      '37 35 98:0 / /tab\\011x\\134 rw - ext3 /dev/root rw',
      '',
    ];
    expect(mountPointsOf(lines.join('\n'))).toEqual(['/data/my leaf.sqlite', '/tab\tx\\', '']);
  });
});

describe('the files of an open database', () => {
  async function open(): Promise<SqliteFiles> {
    for (const path of [file, `${file}-wal`]) await writeFile(path, '');
    const files = new SqliteFiles(file);
    files.assertInPlace();
    return files;
  }

  const REFUSED = (path: string): Error =>
    expect.objectContaining({
      code: 'LEAF_DATABASE_UNUSABLE',
      message: expect.stringContaining(`The file ${path} was removed or replaced while this process`) as string,
    }) as Error;

  it('may appear, and are the same ones ever after', async () => {
    const files = await open();
    await writeFile(`${file}-shm`, '');
    expect(() => files.assertInPlace()).not.toThrow();
    expect(() => files.assertInPlace()).not.toThrow();
    await rm(`${file}-shm`);
    expect(() => files.assertInPlace()).toThrow(REFUSED(`${file}-shm`));
  });

  it.each(['', '-wal'])('are refused when leaf.sqlite%s was removed, or replaced by another file', async (end) => {
    const files = await open();
    const path = `${file}${end}`;
    await rename(path, join(directory, `moved-${basename(path)}`));
    expect(() => files.assertInPlace()).toThrow(REFUSED(path));
    await writeFile(path, '');
    expect(() => files.assertInPlace()).toThrow(REFUSED(path));
  });
});

it('libsql is loaded when it is needed', async () => {
  const Libsql = await loadSqlite();
  const database = new Libsql(':memory:');
  expect(database.prepare('SELECT 1 AS one').all()).toEqual([{ one: 1 }]);
  database.close();
});
