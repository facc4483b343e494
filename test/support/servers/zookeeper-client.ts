import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { exists, run } from './services';

const ROOT = join(__dirname, '../../..');
const PACKAGE = 'zookeeper';

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string } | undefined>>;
}

/** npm leaves the optional native client out without a word when it cannot compile it. */
export async function requireZookeeperClient(): Promise<void> {
  const problem = await zookeeperClientProblem();
  if (problem === undefined) return;
  throw new Error(`The optional package ${PACKAGE} does not load. Run: npm run test:setup\n${problem}`);
}

/** Why the native client does not load. In a process of its own: a module that failed once is not looked for again. */
export async function zookeeperClientProblem(): Promise<string | undefined> {
  return run(process.execPath, ['-e', `require('${PACKAGE}')`], { cwd: ROOT }).then(() => undefined, String);
}

/** Compiles the native client, with the headers that came with Node if there are any: npm would download them. */
export async function buildZookeeperClient(): Promise<void> {
  const nodeDirectory = dirname(dirname(process.execPath));
  const hasHeaders = await exists(join(nodeDirectory, 'include/node/node.h'));
  const env = { ...process.env, ...(hasHeaders ? { npm_config_nodedir: nodeDirectory } : {}) };
  await run('npm', await buildArguments(), { cwd: ROOT, env });
}

async function buildArguments(): Promise<string[]> {
  if (await exists(join(ROOT, 'node_modules', PACKAGE))) return ['rebuild', PACKAGE];
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  const version = lock.packages[`node_modules/${PACKAGE}`]?.version ?? 'latest';
  return ['install', '--no-save', `${PACKAGE}@${version}`];
}
