import { rm, writeFile } from 'node:fs/promises';
import { runMain } from './servers/run-main';
import { exists, run } from './servers/services';
import { type MissingTool, missingTools, TOOL_GROUPS } from './tools';
import { buildZookeeperClient, requireZookeeperClient, zookeeperClientProblem } from './servers/zookeeper-client';

const POLICY_FILE = '/usr/sbin/policy-rc.d';
/** What compiles the native client of ZooKeeper. */
const COMPILERS = ['g++', 'make', 'python3'];

/** `npm run test:setup`: installs the tools outside npm that the tests need. No other command installs anything. */
async function setup(): Promise<void> {
  const groups = TOOL_GROUPS.filter((group) => process.argv.includes(`--${group}`));
  await installPackages(packagesOf(await missingTools(groups)));
  const left = await missingTools(groups);
  if (left.length > 0) throw new Error(`Still missing: ${left.map(({ name }) => name).join(', ')}`);
  if ((await zookeeperClientProblem()) !== undefined) await installZookeeperClient();
  console.log('The tests have all that they need.');
}

function packagesOf(missing: readonly MissingTool[]): string[] {
  return [...new Set(missing.map(({ debianPackage }) => debianPackage))];
}

async function installZookeeperClient(): Promise<void> {
  await buildZookeeperClient().catch(async () => {
    await installPackages(COMPILERS);
    await buildZookeeperClient();
  });
  await requireZookeeperClient();
}

async function installPackages(packages: readonly string[]): Promise<void> {
  if (packages.length === 0) return;
  const install = ['-o', 'DPkg::Lock::Timeout=120', 'install', '-y', '--no-install-recommends', ...packages];
  if (process.getuid?.() !== 0 || !(await exists('/etc/debian_version'))) {
    throw new Error(`As root on Debian, this runs: apt-get update && apt-get ${install.join(' ')}`);
  }
  console.log(`Installing ${packages.join(', ')}`);
  await withoutDaemons(async () => {
    await aptGet(['update']);
    await aptGet(install);
  });
}

async function aptGet(words: readonly string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', words, { env, maxBuffer: 64 * 1024 * 1024 });
}

/** A package that brings a server would start it; Debian asks this file whether it may. */
async function withoutDaemons(act: () => Promise<void>): Promise<void> {
  const placed = !(await exists(POLICY_FILE));
  if (placed) await writeFile(POLICY_FILE, '#!/bin/sh\nexit 101\n', { flag: 'wx', mode: 0o755 });
  try {
    await act();
  } finally {
    if (placed) await rm(POLICY_FILE);
  }
}

runMain(setup);
