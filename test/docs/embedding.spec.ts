import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { transformSync } from '@swc/core';
import { Logger } from '@nestjs/common';
import { makeDataDirectory, removeDataDirectory } from '../support/servers/data-directory';
import { typeErrors } from '../support/type-errors';

const page = readFileSync(join(__dirname, '../../docs/embedding.md'), 'utf8');
/** The programs of the page, by the name in their first line. */
const programs = new Map(
  [...page.matchAll(/^```ts\n\/\/ (\S+)\.ts\n(.*?)^```/gms)].map(([, name = '', text = '']) => [name, text]),
);

/** Runs a program of the page; returns what it writes. */
async function run(name: string): Promise<unknown[][]> {
  const { code } = transformSync(programs.get(name) ?? '', {
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true },
      target: 'es2022',
    },
    module: { type: 'commonjs' },
  });
  const written: unknown[][] = [];
  const exported: { main?: () => Promise<void> } = {};
  const globals = { require, exports: exported, console: { log: (...values: unknown[]) => written.push(values) } };
  (compileFunction(code, Object.keys(globals)) as (...values: unknown[]) => void)(...Object.values(globals));
  await exported.main!();
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

  it('shows programs that compile', () => {
    const errors = typeErrors([...programs.values(), `${programs.get('segment')!}\nvoid main(1);`]);
    expect(errors.pop()).toHaveLength(1);
    expect(errors).toEqual([[], [], []]);
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
