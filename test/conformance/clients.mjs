import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { compile } from '../../scripts/run-typescript.mjs';

const root = join(import.meta.dirname, '../..');
const JAVA = 'clients/java';
const JAVA_CLASSES = `${JAVA}/conformance-driver/target/classes`;
/** The processes live for seconds. */
const SHORT_LIVED = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto'];

/**
 * The clients. `driver`: program and arguments of the driver below a folder, this repository or a copy of it. `build`: a
 * command that is executed before, in `folder`. `copy`: what a copy needs, and how its changed sources are built.
 */
const CLIENTS = {
  node: {
    driver: (base) => [process.execPath, join(base, 'test/conformance/drivers/node.mjs')],
    build: { folder: '.', command: [process.execPath, 'scripts/ensure-build.mjs'] },
    copy: {
      paths: ['libs/client', 'libs/core', 'tsconfig.json', 'test/conformance/drivers'],
      build: (base) => compile(join(base, 'dist'), ['libs'], base),
    },
  },
  java: {
    driver: (base) => {
      const path = [JAVA_CLASSES, `${JAVA}/conformance-driver/target/lib/*`].map((part) => join(base, part)).join(':');
      return ['java', ...SHORT_LIVED, '-cp', path, 'io.github.leafids.conformance.Driver'];
    },
    build: { folder: JAVA, command: ['mvn', '-q', '-B', '-pl', 'conformance-driver', '-am', 'package', '-DskipTests'] },
    copy: {
      paths: [`${JAVA}/leaf-client/src`, `${JAVA}/conformance-driver/target`],
      // The classes of the driver come first in its class path.
      build: (base) => {
        const sources = `${JAVA}/leaf-client/src/main/java/io/github/leafids/*.java`;
        run(['sh', '-c', `javac --release 8 -nowarn -Xlint:-options -d ${JAVA_CLASSES} ${sources}`], base);
      },
    },
  },
  go: {
    driver: (base) => [join(base, 'clients/go/build/driver')],
    build: { folder: 'clients/go', command: ['go', 'build', '-o', 'build/driver', './internal/driver'] },
    copy: { paths: ['clients/go'], build: (base) => build('go', base) },
  },
  python: {
    driver: (base) => ['python3', join(base, 'clients/python/driver.py')],
    copy: { paths: ['clients/python/src', 'clients/python/driver.py'], build: () => {} },
  },
  'python-async': { driver: (base) => ['python3', join(base, 'clients/python/driver.py'), '--async'] },
};

export const NAMES = Object.keys(CLIENTS);
/** Those with variants in broken/. */
export const COPIED = NAMES.filter((name) => CLIENTS[name].copy !== undefined);

/** Program and arguments of the driver of a client, below `base`. */
export function driverOf(name, base = root) {
  return clientOf(name).driver(base);
}

/** Builds a client and its driver. */
export function build(name, base = root) {
  const { build: steps } = clientOf(name);
  if (steps !== undefined) run(steps.command, join(base, steps.folder));
}

/** What a copy of a client needs, and the function that builds it there. */
export function copyOf(name) {
  return clientOf(name).copy;
}

function clientOf(name) {
  const client = CLIENTS[name];
  if (client === undefined) throw new Error(`There is no client "${name}"; there are ${NAMES.join(', ')}`);
  return client;
}

function run([program, ...words], cwd) {
  const { status, error } = spawnSync(program, words, { cwd, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`${program} ${words.join(' ')} failed in ${cwd} ${error?.message ?? ''}`);
}
