import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FileSettings, readConfig } from './environment';
import type { LeafConfig } from './leaf-config';

let directory: string;
beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'leaf-env-'))));
afterEach(() => rm(directory, { recursive: true }));

const PROPERTIES: FileSettings = { env: { LEAF_NAME: 'java', LEAF_LOCAL_WORKERS: '{"*":7}' }, warnings: [] };

function read(env: NodeJS.ProcessEnv): LeafConfig {
  return readConfig(() => PROPERTIES, { env, directory });
}

describe('readConfig', () => {
  it('fills unset and empty variables from .env, and names the file', async () => {
    const file = join(directory, '.env');
    await writeFile(file, 'LEAF_PORT=9001\nLEAF_DATABASE_URL="sqlite:/a"\nLEAF_NAME=file\n');
    const env = { LEAF_PORT: '', LEAF_DATABASE_URL: '', LEAF_NAME: 'own' };
    const config = read(env);
    expect(config).toMatchObject({ port: 9001, name: 'own', files: [file] });
    expect(config.ids.segment?.database).toMatchObject({ url: 'sqlite:/a' });
    expect(env.LEAF_PORT).toBe('9001');
  });

  it('reads a file of Windows', async () => {
    await writeFile(join(directory, '.env'), '\uFEFFLEAF_PORT=9001\r\nLEAF_NAME=file\r\n');
    expect(read({})).toMatchObject({ port: 9001, name: 'file' });
  });

  it('refuses a file with an invalid line, and does not show its content', async () => {
    const file = join(directory, '.env');
    await writeFile(file, 'LEAF_NAME=a\nLEAF_ADMIN_TOKEN: secret\nLEAF_PORT=9001\n\nport 9002\n');
    const env = {};
    expect(() => read(env)).toThrow(
      `The file ${file} has lines that are not NAME=value: line 2, 5. Correct them, or begin them with #.`,
    );
    expect(env).toEqual({});
  });

  it('names no file if there is none', () => {
    expect(read({}).files).toStrictEqual([]);
  });

  it('refuses a setting that is empty everywhere if its default would use another database', async () => {
    await writeFile(join(directory, '.env'), 'LEAF_DATABASE_URL=\n');
    expect(() => read({})).toThrow('LEAF_DATABASE_URL is empty');
  });

  it('uses the properties file where a variable is empty', () => {
    const env = { LEAF_PROPERTIES_FILE: '/leaf.properties', LEAF_NAME: '', LEAF_DATABASE_URL: 'sqlite:/a' };
    expect(read(env)).toMatchObject({ name: 'java', files: ['/leaf.properties'] });
  });
});
