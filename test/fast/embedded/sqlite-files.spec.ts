import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Leaf, type LeafOptions } from '@leaf-ids/id';
import { parseDatabaseUrl } from '@leaf-ids/persistence';
import { mountPointsOf, pathFault } from '../../../libs/persistence/src/dialects/sqlite/sqlite-file';
import { ROOT } from '../../support/build';
import { connect } from '../../support/contract/sql-stores';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';

const SILENT = { log: () => undefined, warn: () => undefined, error: () => undefined };
const REFUSED = { code: 'LEAF_SEGMENT_UNAVAILABLE' };

describe('the file of the tags', () => {
  let directory: string;
  let file: string;
  const running: Leaf[] = [];

  beforeEach(async () => {
    directory = await makeDataDirectory();
    mkdirSync(join(directory, 'data'));
    file = join(directory, 'data/leaf.sqlite');
  });
  afterEach(async () => {
    for (const leaf of running.splice(0)) await leaf.stop();
    await removeDataDirectory(directory);
  });

  async function start(path = file, options: LeafOptions = {}): Promise<Leaf> {
    const tags = [{ tag: 'order', step: 10 }];
    const leaf = await Leaf.start({ database: `sqlite:${path}`, tags, logger: SILENT, ...options });
    running.push(leaf);
    return leaf;
  }

  /** Another process reads it, and is the last one to close it as far as it can see. */
  function readElsewhere(): void {
    const program = `const database = new (require('libsql'))(${JSON.stringify(file)});
      database.prepare('SELECT * FROM leaf_alloc').all(); database.close();`;
    expect(spawnSync(process.execPath, ['-e', program], { cwd: ROOT }).status).toBe(0);
  }

  it('is not used any more once its log was removed under this process, which had copied its folder', async () => {
    const leaf = await start();
    await leaf.ids.nextId('order');
    readElsewhere();
    await leaf.ids.nextRanges('order', 100);
    cpSync(join(directory, 'data'), join(directory, 'backup'), { recursive: true });
    readElsewhere();
    await expect(leaf.ids.nextRanges('order', 100)).rejects.toMatchObject(REFUSED);
    await expect(leaf.ids.nextRanges('order', 100)).rejects.toMatchObject(REFUSED);
  });

  it('is not used any more once another one has its name', async () => {
    const leaf = await start();
    await leaf.ids.nextId('order');
    copyFileSync(file, `${file}.new`);
    renameSync(`${file}.new`, file);
    await expect(leaf.ids.nextRanges('order', 100)).rejects.toMatchObject(REFUSED);
  });

  it('can be closed while a transaction is open, which fails alone', async () => {
    const dataSource = await connect(parseDatabaseUrl(`sqlite:${file}`), false);
    const work = dataSource.access.transaction(async (statement) => {
      await dataSource.destroy();
      await statement('CREATE TABLE t (a integer)');
    }, 1000);
    await expect(work).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
  });

  it('has one name', async () => {
    const leaf = await start();
    await leaf.stop();
    linkSync(file, join(directory, 'second.sqlite'));
    await expect(start()).rejects.toMatchObject({
      code: 'LEAF_DATABASE_UNUSABLE',
      message: expect.stringContaining('hard links') as string,
    });
    rmSync(join(directory, 'second.sqlite'));
    await start();
  });

  it('is one registry by whichever symbolic link', async () => {
    symlinkSync(join(directory, 'data'), join(directory, 'linked'));
    const first = await start(file, { snowflake: {} });
    const second = await start(join(directory, 'linked/leaf.sqlite'), { snowflake: {} });
    const registries = [first, second].map((leaf) => leaf.status().registry?.description);
    expect(registries).toEqual([expect.stringContaining(join(directory, 'data')), registries[0]]);
  });

  it('is refused if it is itself a mount point', async () => {
    await start();
    expect(pathFault(file)).toBeUndefined();
    expect(pathFault(file, [file])).toContain('mount its directory');
    const line = '36 35 98:0 /mnt1 /data/my\\040leaf.sqlite rw,noatime master:1 - ext3 /dev/root rw';
    expect(mountPointsOf(line)).toEqual(['/data/my leaf.sqlite']);
  });
});
