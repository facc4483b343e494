import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './build';
import { run } from './services';

const MAX_OUTPUT = 64 * 1024 * 1024;

/** Makes the packages and returns the path of each tarball by the name of its package. */
export async function pack(out: string): Promise<Map<string, string>> {
  await command('node', [join(ROOT, 'scripts/pack.mjs'), '--out', out], ROOT);
  const files = await readdir(out);
  return new Map(files.map((file) => [`@leaf/${file.split('-')[1] ?? ''}`, join(out, file)]));
}

/** Installs the tarballs, and what the package.json of the folder names, in that folder. */
export function install(folder: string, tarballs: Iterable<string>): Promise<string> {
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--loglevel=error'];
  return command('npm', ['install', ...quiet, ...tarballs], folder);
}

/** Ends with what the program said when it fails. */
export async function command(program: string, args: readonly string[], cwd: string): Promise<string> {
  try {
    const { stdout } = await run(program, [...args], { cwd, env: outsideEnvironment(), maxBuffer: MAX_OUTPUT });
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout ?? ''}\n${stderr ?? ''}`, { cause: error });
  }
}

export async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** The versions that this repository asks for. */
export async function versionsOf(names: readonly string[]): Promise<Record<string, string>> {
  const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Record<
    string,
    Record<string, string>
  >;
  const { dependencies, devDependencies } = manifest;
  const versions = { ...devDependencies, ...dependencies };
  return Object.fromEntries(names.map((name) => [name, versions[name] ?? '']));
}

/** Without what npm tells the scripts of this repository about it. */
export function outsideEnvironment(): NodeJS.ProcessEnv {
  const inside = /^npm_(package|lifecycle|command|config_local_prefix)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !inside.test(name)));
}
