// node scripts/coverage.mjs [options of jest]: which lines of the core and the registries the tests reach, and how many
// they have to. Only what runs inside the tests' own processes counts, so the tests are those that call the two libraries
// themselves.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const TESTS = [
  '/libs/.*\\.spec\\.ts$',
  '/test/fast/(contract|embedded|property)/.*\\.spec\\.ts$',
  '/test/services/contract/.*(registry|worker-store|worker-file|faults|(etcd|kubernetes)-\\w+)\\.spec\\.ts$',
  '/test/services/zookeeper/zookeeper-session\\.spec\\.ts$',
];
const COUNTED = [
  'libs/{core,registry}/src/**/*.ts',
  '!**/*.spec.ts',
  // Types alone: there is nothing to be run.
  '!libs/registry/src/strategies/strategy.ts',
  // The program of another process, where its own tests run it.
  '!libs/registry/src/stores/zookeeper/native-host.ts',
];
const jest = ['node_modules/jest/bin/jest.js', '--selectProjects', 'fast', 'services', '--coverage'];
const chosen = [...COUNTED.map((files) => `--collectCoverageFrom=${files}`), ...process.argv.slice(2)];
const patterns = TESTS.map((test) => `--testPathPatterns=${test}`);
const { status } = spawnSync(process.execPath, [...jest, ...chosen, ...patterns], { cwd: root, stdio: 'inherit' });
process.exitCode = status ?? 1;
