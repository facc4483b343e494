// Four replicas with the same MAC address and the same process ID insert rows at the same time; prints how many IDs
// repeat with the generator of MyBatis-Plus, with that of Leaf, and with @LeafId of Hibernate. MyBatis-Plus replaces
// process IDs below 10 by a random number, so that the JVM is process 20, as after a script that runs some commands.
// Linux, as root:
//   node run.mjs [rows of each replica]
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const REPLICAS = [1, 2, 3, 4];
const MAC = '02:42:ac:11:00:02';
const PID = 20;
const PORT = 18250;
const TOKEN = '0123456789abcdef0123456789abcdef';
const here = dirname(fileURLToPath(import.meta.url));
const rows = Number(process.argv[2] ?? 20_000);
const work = mkdtempSync(join(tmpdir(), 'leaf-replicas-'));
const children = [];

function ip(...args) {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** A network namespace with an interface of its own; the MAC address is the same in all of them. */
function openNetwork(n) {
  ip('netns', 'add', `leaf${n}`);
  ip('link', 'add', `leafv${n}`, 'type', 'veth', 'peer', 'name', `leafp${n}`);
  ip('link', 'set', `leafp${n}`, 'netns', `leaf${n}`);
  ip('addr', 'add', `10.218.${n}.1/24`, 'dev', `leafv${n}`);
  ip('link', 'set', `leafv${n}`, 'up');
  ip('-n', `leaf${n}`, 'link', 'set', `leafp${n}`, 'address', MAC);
  ip('-n', `leaf${n}`, 'addr', 'add', `10.218.${n}.2/24`, 'dev', `leafp${n}`);
  ip('-n', `leaf${n}`, 'link', 'set', `leafp${n}`, 'up');
  ip('-n', `leaf${n}`, 'link', 'set', 'lo', 'up');
  writeFileSync(join(work, `hosts${n}`), `127.0.0.1 localhost\n10.218.${n}.2 replica-${n}\n`);
}

function closeNetwork(n) {
  // Fails if it is not open.
  spawnSync('ip', ['netns', 'del', `leaf${n}`]);
}

/** The class path of a module, compiled. */
function classPath(module, ...profiles) {
  const file = join(work, 'classpath');
  const repository = process.env.MAVEN_REPO ? [`-Dmaven.repo.local=${process.env.MAVEN_REPO}`] : [];
  const goals = ['compile', 'dependency:build-classpath', `-Dmdep.outputFile=${file}`];
  const args = [
    '-q',
    '-B',
    '-Dstyle.color=never',
    ...repository,
    '-f',
    resolve(here, '..', module, 'pom.xml'),
    ...profiles,
    ...goals,
  ];
  execFileSync('mvn', args, { encoding: 'utf8' });
  return `${resolve(here, '..', module, 'target/classes')}:${readFileSync(file, 'utf8').trim()}`;
}

function start(command, args, options) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], ...options });
  children.push(child);
  const ended = new Promise((done) => child.once('exit', done));
  return { child, ended, lines: createInterface({ input: child.stdout }) };
}

/** Resolves with the first line that matches. */
function line(started, pattern) {
  return new Promise((found, failed) => {
    started.lines.on('line', (text) => pattern.test(text) && found(text));
    void started.ended.then((code) => failed(new Error(`exited with ${code} before ${pattern}`)));
  });
}

async function startServer() {
  const server = start('node', [resolve(here, '../../../../dist/apps/leaf-server/src/main.js')], {
    cwd: work,
    env: { ...process.env, LEAF_PORT: `${PORT}`, LEAF_ADVERTISE_HOST: '10.218.1.1', LEAF_WORKER_TOKENS: `it:${TOKEN}` },
  });
  await line(server, /Listening on/);
}

async function count(name, path, properties) {
  const ids = new Map();
  let issued = 0;
  const replicas = REPLICAS.map((n) => {
    const servers = properties.map((text) => text.replace('HOST', `10.218.${n}.1`));
    const java = `java -XX:TieredStopAtLevel=1 -cp ${path} io.github.leafids.it.Replica ${rows} ${servers.join(' ')}`;
    // The shell is process 1, and each command the next one.
    const inside = [
      `mount --bind ${join(work, `hosts${n}`)} /etc/hosts`,
      `hostname replica-${n}`,
      ...Array.from({ length: PID - 4 }, () => '/bin/true'),
      java,
      'exit $?',
    ].join('; ');
    const args = [
      'netns',
      'exec',
      `leaf${n}`,
      'unshare',
      '--uts',
      '--mount',
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
    ];
    const options = { cwd: work, env: { ...process.env, LEAF_TOKEN: TOKEN } };
    return start('ip', [...args, 'sh', '-c', inside], options);
  });
  const ready = await Promise.all(replicas.map((replica) => line(replica, /^READY /)));
  for (const { lines } of replicas) {
    lines.on('line', (text) => {
      if (!text.startsWith('ID ')) return;
      issued++;
      ids.set(text, (ids.get(text) ?? 0) + 1);
    });
  }
  for (const { child } of replicas) child.stdin.write('\n');
  const codes = await Promise.all(replicas.map(({ ended }) => ended));
  if (codes.some((code) => code !== 0) || issued !== rows * REPLICAS.length) {
    throw new Error(`${name}: exit codes ${codes.join(', ')}, ${issued} IDs`);
  }
  const pids = [...new Set(ready.map((text) => text.slice(6)))].join(', ');
  console.log(
    `${name}: ${issued} rows of ${REPLICAS.length} replicas (MAC ${MAC}, PID ${pids}): ${issued - ids.size} duplicate IDs`,
  );
  return issued - ids.size;
}

let failed = true;
try {
  REPLICAS.forEach(closeNetwork);
  REPLICAS.forEach(openNetwork);
  await startServer();
  const leaf = [`--leaf.servers=http://HOST:${PORT}`];
  await count('MyBatis-Plus alone', classPath('mybatis-plus-replicas'), []);
  const withLeaf = await count('with leaf-mybatis-plus', classPath('mybatis-plus-replicas', '-Pleaf'), leaf);
  const hibernate = await count('Hibernate with @LeafId', classPath('hibernate-replicas'), leaf);
  failed = withLeaf + hibernate > 0;
} finally {
  for (const child of children) child.kill();
  REPLICAS.forEach(closeNetwork);
  rmSync(work, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;
