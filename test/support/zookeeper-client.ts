import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '@leaf/core';
import { exists, run, withLock } from './services';

const ROOT = join(__dirname, '../..');
const PACKAGE = 'zookeeper';

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string } | undefined>>;
}

/**
 * Makes sure that the optional native client can be loaded: npm leaves it out without a word when it cannot compile it,
 * for instance because it has no way to download the headers of Node. Those that came with Node do as well.
 */
export async function requireZookeeperClient(): Promise<void> {
  if ((await loadProblem()) === undefined) return;
  await withLock('zookeeper-client', async () => {
    if ((await loadProblem()) === undefined) return;
    const built = run('npm', await buildArguments(), { cwd: ROOT, env: await buildEnvironment() });
    const failure = await built.then(() => undefined, messageOf);
    const problem = await loadProblem();
    if (problem === undefined) return;
    throw new Error(
      `The tests need the optional package ${PACKAGE}, which does not load: ${problem}\n${failure ?? ''}\n` +
        'It takes a C compiler, make, python3 and the headers of Node: npm_config_nodedir=<directory with include/node> ' +
        `npm install ${PACKAGE} --no-save`,
    );
  });
}

/** In a process of its own: a module that failed once is not looked for again. */
async function loadProblem(): Promise<string | undefined> {
  const loading = run(process.execPath, ['-e', `require('${PACKAGE}')`], { cwd: ROOT });
  return loading.then(() => undefined, messageOf);
}

async function buildArguments(): Promise<string[]> {
  if (await exists(join(ROOT, 'node_modules', PACKAGE))) return ['rebuild', PACKAGE];
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  const version = lock.packages[`node_modules/${PACKAGE}`]?.version ?? 'latest';
  return ['install', '--no-save', `${PACKAGE}@${version}`];
}

async function buildEnvironment(): Promise<NodeJS.ProcessEnv> {
  const nodeDirectory = dirname(dirname(process.execPath));
  const hasHeaders = await exists(join(nodeDirectory, 'include/node/node.h'));
  return { ...process.env, ...(hasHeaders ? { npm_config_nodedir: nodeDirectory } : {}) };
}
