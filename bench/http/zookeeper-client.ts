import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';

const PACKAGE = 'zookeeper';

/**
 * The native client of ZooKeeper belongs to the version of Node.js for which it was compiled. For another version, this
 * compiles it in `.cache`, once.
 *
 * @returns the variables with which a server finds it
 */
export function zookeeperClient(): NodeJS.ProcessEnv {
  if (loads({})) return {};
  const folder = resolve('.cache/node', process.version, 'native');
  const env = { ZOOKEEPER_PREBUILD: join(folder, 'node_modules', PACKAGE) };
  if (loads(env)) return env;
  console.error(`compiling ${PACKAGE} for Node.js ${process.version} …`);
  install(folder);
  return env;
}

function loads(env: NodeJS.ProcessEnv): boolean {
  return spawnSync(process.execPath, ['-e', `require('${PACKAGE}')`], { env: { ...process.env, ...env } }).status === 0;
}

function install(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly version: string } | undefined>>;
  };
  const version = packages[`node_modules/${PACKAGE}`]?.version ?? 'latest';
  const node = dirname(process.execPath);
  const headers = existsSync(join(node, '../include/node/node.h')) ? { npm_config_nodedir: dirname(node) } : {};
  const env = { ...process.env, ...headers, PATH: node + delimiter + (process.env.PATH ?? '') };
  const words = ['install', '--no-save', '--no-audit', '--no-fund', '--prefer-offline', '--prefix', folder];
  const { status, stderr } = spawnSync('npm', [...words, `${PACKAGE}@${version}`], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${PACKAGE} cannot be compiled for Node.js ${process.version}:\n${stderr}`);
}
