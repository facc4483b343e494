import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../support/build';
import { run } from '../support/servers/services';
import { requireTool } from '../support/tools';

/** Ten times the exposure level that systemd computes, from 0 to 100. */
const MAX_EXPOSURE = 15;

describe('deploy/systemd/leaf.service', () => {
  let directory: string;
  let unit: string;

  /** The unit with a program that exists here. */
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'leaf-systemd-'));
    unit = join(directory, 'leaf.service');
    const text = await readFile(join(ROOT, 'deploy/systemd/leaf.service'), 'utf8');
    await writeFile(unit, text.replace('/usr/bin/node', process.execPath));
  });
  afterAll(() => rm(directory, { recursive: true }));

  async function analyze(...words: string[]): Promise<{ stdout: string; stderr: string }> {
    return run(await requireTool('systemd-analyze'), words);
  }

  it('is accepted without a warning', async () => {
    await expect(analyze('verify', unit)).resolves.toMatchObject({ stderr: '' });
  });

  it('has a low exposure', async () => {
    await expect(analyze('security', '--offline=true', `--threshold=${MAX_EXPOSURE}`, unit)).resolves.toBeDefined();
  });
});
