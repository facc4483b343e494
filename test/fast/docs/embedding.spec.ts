import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { evaluate, namedBlocksOf, readPage } from '../../support/pages';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';

const programs = namedBlocksOf(readPage('docs/embedding.md'), 'ts');

/** Runs a program of the page; returns what it writes. */
async function run(name: string): Promise<unknown[][]> {
  const written: unknown[][] = [];
  const log = (...values: unknown[]): void => void written.push(values);
  const program = evaluate(programs.get(`${name}.ts`)!, { console: { log } }) as { main(): Promise<void> };
  await program.main();
  return written;
}

describe('docs/embedding.md', () => {
  const home = process.cwd();
  let directory: string;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    directory = await makeDataDirectory();
    process.chdir(directory);
  });
  afterAll(async () => {
    process.chdir(home);
    await removeDataDirectory(directory);
  });

  it('shows SegmentModule alone', async () => {
    expect(await run('segment')).toEqual([[1n], [[{ from: 2n, to: 501n }]]]);
  });

  it('shows SnowflakeModule alone, and RegistryModule beside it', async () => {
    const [[id, workerId] = []] = await run('snowflake');
    expect(id).toBeGreaterThan(0n);
    expect(await run('registry')).toEqual([[workerId, '10.0.0.7:8080', 'released']]);
  });
});
