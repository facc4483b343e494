import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../../support/build';
import { command } from '../../support/packages';
import type { Bundler, Cell, ModuleKind, Runner, Runtime } from './cells';
import type { Installation } from './installation';

/** One run of a cell. */
export interface Run {
  readonly installation: Installation;
  readonly cell: Cell;
  readonly kind: ModuleKind;
  readonly runtime: Runtime;
}

const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');
const OUTPUT = 'out';
/** Limit for one test, in milliseconds: several applications start at once. */
const LIMIT_MS = 60_000;
/** Packages that are not bundled: native ones, and CommonJS packages, whose `require` esbuild leaves in ESM. */
const EXTERNAL = ['typeorm', 'libsql', 'mysql2', 'pg', '@nestjs/*', 'reflect-metadata'];

/** The words after the runtime that run a test file. */
const RUNNERS: Record<Runner, (run: Run, file: string) => readonly string[]> = {
  Jest: ({ kind }, file) => [
    ...(kind === 'ESM' ? ['--experimental-vm-modules'] : []),
    ...[JEST, '--rootDir', '.', `--testTimeout=${LIMIT_MS}`, '--testMatch', `**/${file}`],
  ],
  Vitest: ({ installation }, file) => [
    installation.tool('vitest'),
    'run',
    '--globals',
    `--testTimeout=${LIMIT_MS}`,
    file,
  ],
  'node:test': (_, file) => ['--test-reporter', 'spec', '--test', `node.${file}`],
  'bun test': (_, file) => ['test', '--timeout', String(LIMIT_MS), `./${file}`],
};

/** The words after the name of the bundler. */
const BUNDLERS: Record<Bundler, (run: Run, input: string, output: string) => readonly string[]> = {
  esbuild: ({ kind }, input, output) => [
    ...[input, '--bundle', '--minify', '--platform=node', `--outfile=${output}`],
    ...[`--format=${kind === 'ESM' ? 'esm' : 'cjs'}`, ...EXTERNAL.map((name) => `--external:${name}`)],
  ],
  webpack: ({ installation, cell }, input, output) => [
    ...['--entry', `./${input}`, '--output-path', installation.folder(cell.application)],
    ...['--output-filename', output],
  ],
  Rollup: ({ kind }, input, output) => [
    ...['-c', 'rollup.config.mjs', '-i', `./${input}`, '-o', output, '-f', kind === 'ESM' ? 'es' : 'cjs'],
  ],
  Vite: () => ['build'],
};

/** Runs a test in the application; undefined unless the tool runs tests. */
export async function runTest(run: Run): Promise<string | undefined> {
  const { installation, cell, kind, runtime } = run;
  if (!(cell.tool in RUNNERS)) return undefined;
  const folder = installation.folder(cell.application);
  const file = `ids.test.${extensionOf(kind)}`;
  if (cell.tool === 'node:test') await importIt(folder, file, kind);
  return command(installation.program(runtime), RUNNERS[cell.tool as Runner](run, file), folder);
}

/** Makes the bundle, if the tool is a bundler, and returns the file of the program. */
export async function bundle(run: Run): Promise<string> {
  const { installation, cell, kind, runtime } = run;
  const folder = installation.folder(cell.application);
  const extension = extensionOf(kind);
  const input = `main.${extension}`;
  if (!(cell.tool in BUNDLERS)) return join(folder, input);
  const output = cell.tool === 'Vite' ? join(OUTPUT, input) : join(OUTPUT, `${cell.tool}.${extension}`);
  const words = BUNDLERS[cell.tool as Bundler](run, input, output);
  await command(installation.program(runtime), [installation.tool(cell.tool.toLowerCase()), ...words], folder);
  return join(folder, output);
}

export function extensionOf(kind: ModuleKind): 'mjs' | 'cjs' {
  return kind === 'ESM' ? 'mjs' : 'cjs';
}

/** node:test has no globals. */
async function importIt(folder: string, file: string, kind: ModuleKind): Promise<void> {
  const head = kind === 'ESM' ? "import { it } from 'node:test';" : "const { it } = require('node:test');";
  await writeFile(join(folder, `node.${file}`), `${head}\n${await readFile(join(folder, file), 'utf8')}`);
}
