// The time of an ID of MyBatis-Plus beside that of Leaf, in one run on one core: node run.mjs
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PORT = 18251;
const TOKEN = '0123456789abcdef0123456789abcdef';
const here = dirname(fileURLToPath(import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'leaf-benchmark-'));
const repository = process.env.MAVEN_REPO ? [`-Dmaven.repo.local=${process.env.MAVEN_REPO}`] : [];
const file = join(work, 'classpath');
const goals = ['compile', 'dependency:build-classpath', `-Dmdep.outputFile=${file}`];
execFileSync('mvn', ['-q', '-B', ...repository, '-f', join(here, 'pom.xml'), ...goals], { encoding: 'utf8' });

const main = resolve(here, '../../../../dist/apps/leaf-server/src/main.js');
const server = spawn('taskset', ['-c', '1', 'node', main], {
  cwd: work,
  env: {
    ...process.env,
    LEAF_HOST: '127.0.0.1',
    LEAF_PORT: `${PORT}`,
    LEAF_ADVERTISE_HOST: '127.0.0.1',
    LEAF_WORKER_TOKENS: `it:${TOKEN}`,
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  await new Promise((ready, failed) => {
    createInterface({ input: server.stdout }).on('line', (line) => line.includes('Listening on') && ready());
    server.once('exit', (code) => failed(new Error(`the server exited with ${code}`)));
  });
  const path = `${join(here, 'target/classes')}:${readFileSync(file, 'utf8').trim()}`;
  const java = ['java', '-cp', path, 'io.github.leafids.it.Benchmark', `http://127.0.0.1:${PORT}`, TOKEN];
  execFileSync('taskset', ['-c', '0', ...java], { stdio: 'inherit' });
} finally {
  server.kill();
  rmSync(work, { recursive: true, force: true });
}
