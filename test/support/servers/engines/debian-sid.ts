import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../../build';
import { exists, run, withLock } from '../services';
import { requireTool } from '../../tools';

const CACHE = join(ROOT, 'node_modules/.cache/leaf-engines');
const PACKAGES = ['base-files', 'libgcc-s1', 'mysql-server-core', 'postgresql-18', 'pgbouncer'];
/** The executables of the engines; folders end in a slash. */
const PROGRAMS = ['usr/sbin/mysqld', 'usr/sbin/pgbouncer', 'usr/lib/postgresql/18/bin/'];
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * Creates a directory with programs of Debian unstable and their libraries, once. Installs nothing on the system.
 * `apt-get` downloads from the mirror of the system.
 *
 * @throws Error naming the command that failed
 */
export async function debianSid(): Promise<string> {
  const root = join(CACHE, 'sid');
  if (await exists(root)) return root;
  return withLock('engines', async () => {
    if (await exists(root)) return root;
    const draft = join(CACHE, 'draft');
    await rm(draft, { recursive: true, force: true });
    await unpack(await download(join(draft, 'apt')), join(draft, 'root'));
    await makeIndependent(join(draft, 'root'), root);
    await rename(join(draft, 'root'), root);
    await rm(draft, { recursive: true, force: true });
    return root;
  });
}

/** @returns the packages, with what they need */
async function download(directory: string): Promise<string[]> {
  const archives = join(directory, 'cache/archives');
  for (const path of ['state/lists/partial', 'cache/archives/partial']) {
    await mkdir(join(directory, path), { recursive: true });
  }
  await writeFile(join(directory, 'status'), '');
  await writeFile(join(directory, 'sources.list'), `deb [signed-by=${KEYRING}] ${await mirror()} sid main\n`);
  const settings = {
    'Dir::State': join(directory, 'state'),
    'Dir::State::status': join(directory, 'status'),
    'Dir::Cache': join(directory, 'cache'),
    'Dir::Etc::sourcelist': join(directory, 'sources.list'),
    'Dir::Etc::sourceparts': '-',
    'Acquire::Languages': 'none',
    'APT::Sandbox::User': 'root',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await command('apt-get', [...options, 'update']);
  await command('apt-get', [...options, 'install', '-y', '--download-only', '--no-install-recommends', ...PACKAGES]);
  return (await readdir(archives)).filter((name) => name.endsWith('.deb')).map((name) => join(archives, name));
}

/** The one of the Debian release that this system has; the security updates have another. */
async function mirror(): Promise<string> {
  const words = [
    'indextargets',
    '--format',
    '$(REPO_URI)',
    'Identifier: Packages',
    'Component: main',
    'Origin: Debian',
  ];
  const { stdout } = await command('apt-get', words);
  const found = stdout.split('\n').find((uri) => uri !== '' && !uri.includes('security'));
  if (found === undefined) {
    throw new Error(
      'The engines come from a Debian mirror, and apt has none: add one to its sources, then apt-get update',
    );
  }
  return found;
}

/** base-files has the links from /lib to /usr/lib, which others would make directories. */
async function unpack(packages: readonly string[], root: string): Promise<void> {
  const isFirst = (path: string): boolean => path.includes('/base-files_');
  const inOrder = [...packages].sort((a, b) => Number(isFirst(b)) - Number(isFirst(a)));
  for (const path of inOrder) await command('dpkg', ['-x', path, root]);
}

/** Patches the programs to load the libraries in `root` instead of those of the system. */
async function makeIndependent(draft: string, root: string): Promise<void> {
  const patchelf = await requireTool('patchelf');
  const libraries = join(root, 'usr/lib/x86_64-linux-gnu');
  const path = [libraries, join(libraries, 'systemd'), join(root, 'usr/lib/mysql/private')].join(':');
  for (const program of await programsOf(draft)) {
    const interpreter = ['--set-interpreter', join(root, 'usr/lib64/ld-linux-x86-64.so.2')];
    await command(patchelf, [...interpreter, '--force-rpath', '--set-rpath', path, join(draft, program)]);
  }
}

async function programsOf(root: string): Promise<string[]> {
  const programs: string[] = [];
  for (const path of PROGRAMS) {
    const entries = path.endsWith('/') ? await readdir(join(root, path), { withFileTypes: true }) : undefined;
    programs.push(...(entries?.filter((entry) => entry.isFile()).map(({ name }) => path + name) ?? [path]));
  }
  return programs;
}

async function command(program: string, words: readonly string[]): Promise<{ readonly stdout: string }> {
  try {
    return await run(program, [...words], { maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    throw new Error(`Cannot install an engine: ${program} ${words.join(' ')} failed`, { cause: error });
  }
}
