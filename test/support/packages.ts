import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { exclusively, ROOT } from './exclusively';
import { run } from './servers/services';

interface PackedFile {
  readonly name: string;
  readonly filename: string;
}

export interface Manifest {
  readonly version: string;
  readonly exports?: Record<string, unknown>;
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
}

const MAX_OUTPUT = 64 * 1024 * 1024;

/** Builds and packs workspaces, by default all, and returns the path of each tarball by the name of its package. */
export async function pack(out: string, folders: readonly string[] = []): Promise<Map<string, string>> {
  const workspaces = folders.flatMap((folder) => ['-w', folder]);
  const options = ['--json', '--foreground-scripts=false', '--pack-destination', out];
  const text = await exclusively('pack', async () => {
    if (folders.length === 0) return command(process.execPath, ['scripts/pack.mjs', out, '--json'], ROOT);
    await mkdir(out);
    return command('npm', ['pack', ...workspaces, ...options], ROOT);
  });
  const packed = JSON.parse(text) as PackedFile[];
  return new Map(packed.map(({ name, filename }) => [name, join(out, filename)]));
}

/** Installs the tarballs, and what the package.json of the folder names, in that folder. */
export function install(folder: string, tarballs: Iterable<string>): Promise<string> {
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--loglevel=error'];
  return command('npm', ['install', ...quiet, ...tarballs], folder);
}

/**
 * One installation for all programs, which are folders below this one: what several of them need is fetched and written
 * once. What is not of Leaf has the versions of this repository, which npm has at hand.
 */
export async function installPrograms(
  folder: string,
  programs: readonly string[],
  tarballs: Iterable<string>,
): Promise<void> {
  const needed = (await Promise.all(programs.map((program) => declared(join(folder, program))))).flat();
  const others = [...new Set(needed)].filter((name) => !name.startsWith('@leaf-ids/'));
  const dependencies = Object.fromEntries(await Promise.all(others.map(async (name) => [name, await versionOf(name)])));
  await writeJson(join(folder, 'package.json'), {
    name: 'programs',
    private: true,
    workspaces: programs,
    dependencies,
  });
  await install(folder, tarballs);
}

/** What a program imports without naming it in its package.json: another one may have brought it. */
export async function undeclaredImports(program: string): Promise<string[]> {
  const names = new Set(await declared(program));
  return (await importedPackages(join(program, 'src'))).filter((name) => !names.has(name));
}

/** The packages that the files below a folder import, in TypeScript or as compiled from it. */
export async function importedPackages(folder: string): Promise<string[]> {
  const sources = await Promise.all((await filesBelow(folder)).map((file) => readFile(file, 'utf8')));
  const specifier =
    /(?:\bfrom\s*|^import\s+|\bimport\(\s*|\brequire\(\s*)(["'])((?:@[^/"'\n]+\/)?[^./"'\n][^/"'\n]*)/gm;
  const names = sources.flatMap((source) => [...source.matchAll(specifier)].map(([, , name = '']) => name));
  return [...new Set(names)].filter((name) => !isBuiltin(name)).sort();
}

async function declared(program: string): Promise<string[]> {
  const { dependencies, devDependencies } = await manifestOf(program);
  return Object.keys({ ...dependencies, ...devDependencies });
}

async function versionOf(name: string): Promise<string> {
  return (await manifestOf(join(ROOT, 'node_modules', name))).version;
}

export async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
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

/** All files below a folder. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Without what npm tells the scripts of this repository about it. */
export function outsideEnvironment(): NodeJS.ProcessEnv {
  const inside = /^npm_(package|lifecycle|command|config_local_prefix)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !inside.test(name)));
}
