import {
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readFile,
  readdir,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { syncDirectory, writeDurably } from './durable-file';

/** The inode numbers of the files and directories that `act` synced, in order, and how many of them are still open. */
async function syncedBy(folder: string, act: () => Promise<void>): Promise<{ inodes: number[]; open: number }> {
  const some = await open(folder, 'r');
  const prototype = Object.getPrototypeOf(some) as FileHandle;
  await some.close();
  const inodes: number[] = [];
  const handles: FileHandle[] = [];
  const spy = jest.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    inodes.push((await this.stat()).ino);
    handles.push(this);
    await this.datasync();
  });
  try {
    await act();
  } finally {
    spy.mockRestore();
  }
  return { inodes, open: handles.filter(({ fd }) => fd >= 0).length };
}

describe('writeDurably', () => {
  let folder: string;
  let path: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'leaf-durable-'));
    path = join(folder, 'workerID.properties');
  });

  afterEach(() => rm(folder, { recursive: true }));

  const read = (): Promise<string> => readFile(path, 'utf8');

  it('writes a new file and leaves no temporary one', async () => {
    await writeDurably(path, 'workerID=7\n');
    expect(await read()).toBe('workerID=7\n');
    expect(await readdir(folder)).toEqual(['workerID.properties']);
  });

  it('replaces a longer text whole', async () => {
    await writeDurably(path, 'x'.repeat(10_000));
    await writeDurably(path, 'short');
    expect(await read()).toBe('short');
  });

  it('writes text beyond ASCII and an empty text', async () => {
    await writeDurably(path, '叶');
    expect(await read()).toBe('叶');
    await writeDurably(path, '');
    expect(await read()).toBe('');
  });

  it('ignores an incomplete temporary file of a crash', async () => {
    await writeDurably(path, 'old');
    await writeFile(`${path}.tmp`, 'a torn text that is longer than the next one');
    expect(await read()).toBe('old');
    await writeDurably(path, 'new');
    expect(await read()).toBe('new');
    expect(await readdir(folder)).toEqual(['workerID.properties']);
  });

  it('leaves the old text when the new one cannot be written', async () => {
    await writeDurably(path, 'old');
    await mkdir(`${path}.tmp`);
    await expect(writeDurably(path, 'new')).rejects.toMatchObject({ code: 'EISDIR' });
    expect(await read()).toBe('old');
  });

  it('fails when the folder does not exist', async () => {
    await expect(writeDurably(join(folder, 'none', 'file'), 'x')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('shows readers the old text or the new one, never a part', async () => {
    const texts = ['a'.repeat(200_000), 'b'.repeat(100_000)];
    await writeDurably(path, texts[0]!);
    const state = { writing: true };
    const writer = (async () => {
      for (let i = 1; i <= 10; i++) await writeDurably(path, texts[i % 2]!);
      state.writing = false;
    })();
    while (state.writing) expect(texts.includes(await read())).toBe(true);
    await writer;
  });

  it('has synced the text before the name, and closed both', async () => {
    await writeDurably(path, 'old');
    const { inodes, open: left } = await syncedBy(folder, () => writeDurably(path, 'new'));
    expect(inodes).toEqual([(await stat(path)).ino, (await stat(folder)).ino]);
    expect(left).toBe(0);
  });

  it('keeps the old text when the new one cannot be synced', async () => {
    await writeDurably(path, 'old');
    // It takes any text, and cannot be synced.
    await symlink('/dev/null', `${path}.tmp`);
    await expect(writeDurably(path, 'new')).rejects.toMatchObject({ syscall: 'fsync' });
    expect(await read()).toBe('old');
  });
});

it('syncDirectory fails for a directory that is not there', async () => {
  await expect(syncDirectory(join(tmpdir(), 'leaf-none', 'at-all'))).rejects.toMatchObject({ code: 'ENOENT' });
});
