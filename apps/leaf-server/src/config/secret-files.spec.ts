import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from './leaf-config';

const TOKEN = 'secret-0123456789';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'leaf-secret-'));
  file = join(directory, 'secret');
});
afterEach(() => rm(directory, { recursive: true }));

describe('A secret in a file', () => {
  it('replaces the variable, without its last line break', async () => {
    await writeFile(file, `ops:${TOKEN}\n`);
    expect(loadConfig({ LEAF_ADMIN_TOKEN_FILE: file, LEAF_ADMIN_TOKEN: '' })).toMatchObject({
      adminTokens: [{ name: 'ops', token: TOKEN }],
      adminTokenFile: file,
      files: [file],
    });
    await writeFile(file, 'mysql://leaf:x@db/leaf\r\n');
    const { segment, snowflake } = loadConfig({ LEAF_DATABASE_URL_FILE: file }).ids;
    expect(segment?.database).toMatchObject({ url: 'mysql://leaf:x@db/leaf' });
    expect(snowflake?.registry.strategy).toBe('database');
  });

  it.each([
    ['is missing', undefined, /LEAF_DATABASE_URL_FILE must name a file that this user can read \(ENOENT\)/],
    ['is empty', '\n', /LEAF_DATABASE_URL_FILE must name a file that is not empty/],
    ['is invalid', 'mysql://leaf:hunter2@', /LEAF_DATABASE_URL must/],
  ])('is refused when it %s', async (_what, content, message) => {
    if (content !== undefined) await writeFile(file, content);
    const load = (): unknown => loadConfig({ LEAF_DATABASE_URL_FILE: file });
    expect(load).toThrow(message);
    expect(load).not.toThrow(/hunter2/);
  });

  it('is refused beside the variable', async () => {
    await writeFile(file, 'sqlite:/a');
    const both = { LEAF_DATABASE_URL_FILE: file, LEAF_DATABASE_URL: 'sqlite:/b' };
    expect(() => loadConfig(both)).toThrow('LEAF_DATABASE_URL and LEAF_DATABASE_URL_FILE are both set');
  });
});
