import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '@leaf/core';
import { run, withLock } from './services';

const ROOT = join(__dirname, '../..');
const PACKAGE = 'zookeeper';

/**
 * Makes sure that the optional native client can be loaded: npm goes on without a word when it cannot compile it, for
 * instance because it has no way to download the headers of Node. Those that came with Node do as well.
 */
export async function requireZookeeperClient(): Promise<void> {
  if ((await loadProblem()) === undefined) return;
  await withLock('zookeeper-client', async () => {
    if ((await loadProblem()) === undefined) return;
    const built = run('npm', ['rebuild', PACKAGE], { cwd: ROOT, env: await buildEnvironment() });
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

async function buildEnvironment(): Promise<NodeJS.ProcessEnv> {
  const nodeDirectory = dirname(dirname(process.execPath));
  const hasHeaders = await access(join(nodeDirectory, 'include/node/node.h')).then(
    () => true,
    () => false,
  );
  return { ...process.env, ...(hasHeaders ? { npm_config_nodedir: nodeDirectory } : {}) };
}
