// Renders the files of deploy/kubernetes from the chart. Each file names its own command: its second line.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const USAGE = `Usage: node scripts/write-manifests.mjs [--check] [--helm <program>]

Renders each file of deploy/kubernetes again from the chart deploy/helm/leaf, by the command in its second line.
  --check           writes nothing, and fails if a file is not what the chart renders
  --helm <program>  Helm 4; "npm run test:deploy" builds it in .cache/go (default: helm)
`;
const root = join(import.meta.dirname, '..');
const folder = join(root, 'deploy/kubernetes');
const { values } = parseArgs({
  options: { check: { type: 'boolean' }, helm: { type: 'string', default: 'helm' }, help: { type: 'boolean' } },
});

if (values.help) process.stdout.write(USAGE);
else for (const name of readdirSync(folder)) render(name);

function render(name) {
  const text = readFileSync(join(folder, name), 'utf8');
  const [, head, command] = /^(# .*\n# helm (template .*)\n)/.exec(text) ?? [];
  if (command === undefined) return fail(`The second line of ${name} is not "# helm template …"`);
  const rendered = head + execFileSync(values.helm, command.split(' '), { cwd: root, encoding: 'utf8', stdio: 'pipe' });
  if (rendered === text) return;
  if (values.check) return fail(`${name} is not what the chart renders. Run: node scripts/write-manifests.mjs`);
  writeFileSync(join(folder, name), rendered);
  process.stdout.write(`Changed ${name}\n`);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
