// npm run test:clients [-- --allow-missing] [-- --only <part of a step>]: builds and tests the clients of all languages. Ends
// with 1 when a step fails or a tool is missing.
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '../..');
const node = process.execPath;
const MAVEN = ['mvn', '-q', '-B', 'install'];
const JAVA = ['java', 'javac', 'mvn'];
/** The tools of each client. */
const TOOLS = { node: [], java: JAVA, go: ['go'], python: ['python3'], 'python-async': ['python3'] };
const CLOSING_LINE = /^(\d+) passed, (\d+) failed/;

/** `name`, `tools`, `command`, and `folder` in which it is executed. */
const STEPS = [
  { name: 'tests of Java', tools: JAVA, folder: 'clients/java', command: MAVEN },
  {
    name: 'tests of the integrations of Java',
    tools: JAVA,
    folder: 'clients/java/it',
    command: ['mvn', '-q', '-B', 'verify'],
  },
  { name: 'go vet', tools: ['go'], folder: 'clients/go', command: ['go', 'vet', './...'] },
  { name: 'tests of Go', tools: ['go'], folder: 'clients/go', command: ['go', 'test', '-race', './...'] },
  {
    name: 'tests of the history checker',
    tools: ['go'],
    folder: 'test/long/strict/porcupine',
    command: ['go', 'test', '.'],
  },
  {
    ...{ name: 'tests of Python', tools: ['python3'], folder: 'clients/python' },
    command: ['env', 'PYTHONPATH=src', 'python3', '-m', 'unittest'],
  },
  ...Object.entries(TOOLS).map(([client, tools]) => ({
    ...{ name: `conformance of ${client}`, tools, folder: '.' },
    command: [node, 'test/conformance/run.mjs', '--client', client],
  })),
  ...['node', 'java', 'go', 'python'].map((client) => ({
    ...{ name: `broken variants of ${client}`, tools: TOOLS[client], folder: '.' },
    command: [node, 'test/conformance/broken.mjs', client],
  })),
  {
    ...{ name: 'libraries of others', tools: [...JAVA, 'go'], folder: '.' },
    command: [node, 'node_modules/jest/bin/jest.js', '--selectProjects', 'clients', '--maxWorkers=1'],
  },
];

const { values } = parseArgs({
  options: { 'allow-missing': { type: 'boolean' }, only: { type: 'string', default: '' } },
});
const steps = STEPS.filter(({ name }) => name.includes(values.only));
const missing = [...new Set(steps.flatMap(({ tools }) => tools))].filter((tool) => !isInstalled(tool));
if (missing.length > 0) process.stdout.write(`Missing: ${missing.join(', ')}. Run: npm run test:setup -- --clients\n`);
let [passed, failed] = [0, 0];
for (const step of steps) await execute(step);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

async function execute({ name, tools, folder, command }) {
  const lacking = tools.filter((tool) => missing.includes(tool));
  if (lacking.length > 0) {
    process.stdout.write(`== ${name}: not run without ${lacking.join(', ')}\n`);
    if (!values['allow-missing']) failed++;
    return;
  }
  const began = performance.now();
  process.stdout.write(`== ${name}: ${command.join(' ')}\n`);
  const { code, counts } = await run(command, join(root, folder));
  passed += counts?.passed ?? (code === 0 ? 1 : 0);
  failed += code === 0 ? 0 : Math.max(1, counts?.failed ?? 1);
  process.stdout.write(`== ${name}: exit code ${code}, ${((performance.now() - began) / 1000).toFixed(0)} s\n`);
}

/** Prints the output indented: only the last line of this program counts for those that add them up. */
async function run([program, ...words], cwd) {
  const child = spawn(program, words, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let counts;
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      const found = CLOSING_LINE.exec(line);
      if (found !== null) counts = { passed: Number(found[1]), failed: Number(found[2]) };
      process.stdout.write(`  ${line}\n`);
    });
  }
  const code = await new Promise((resolve) => {
    child.on('error', (error) => {
      process.stdout.write(`  ${error.message}\n`);
      resolve('none');
    });
    child.on('close', (status, signal) => resolve(status ?? signal));
  });
  return { code, counts };
}

function isInstalled(tool) {
  return (process.env.PATH ?? '').split(delimiter).some((directory) => isProgram(join(directory, tool)));
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
