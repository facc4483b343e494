// node test/conformance/run.mjs --client node: README.md. Ends with 1 when the client breaks a rule.
import { parseArgs } from 'node:util';
import { build, driverOf, NAMES } from './clients.mjs';
import { WORKER_TOKEN } from './kit/options.mjs';
import { RULES } from './kit/rules.mjs';
import { Trial } from './kit/trial.mjs';
import { clocks } from './scenarios/clocks.mjs';
import { leases } from './scenarios/leases.mjs';
import { periods } from './scenarios/periods.mjs';
import { realServer } from './scenarios/real-server.mjs';
import { segments } from './scenarios/segments.mjs';
import { strict } from './scenarios/strict.mjs';

const USAGE = `Usage: node test/conformance/run.mjs --client ${NAMES.join('|')} [options]
       node test/conformance/run.mjs --command './driver' [options]

  --part <part>     only the scenarios of windows, strict, segments or periods
  --only <text>     only those with this text in their names
  --parallel <n>    scenarios at the same time (default: 4)
  --server <URL>    instead, worker windows of a real server; its LEAF_WORKER_TOKENS has kit:${WORKER_TOKEN}
`;
/** Those that take the longest come first. */
const PARTS = { windows: { ...leases, ...clocks }, strict, segments, periods };
const { values } = parseArgs({
  options: {
    client: { type: 'string' },
    command: { type: 'string' },
    server: { type: 'string' },
    part: { type: 'string' },
    only: { type: 'string', default: '' },
    parallel: { type: 'string', default: '4' },
  },
});
const { client, command: given } = values;
if ((client === undefined) === (given === undefined) || !((values.part ?? 'windows') in PARTS)) {
  process.stderr.write(USAGE);
  process.exit(2);
}
if (client !== undefined) build(client);
const command = given?.split(' ') ?? driverOf(client);

const all = values.part === undefined ? Object.assign({}, ...Object.values(PARTS)) : PARTS[values.part];
const chosen = values.server === undefined ? all : realServer(values.server);
const wanted = Object.entries(chosen).filter(([name]) => name.includes(values.only));
/** While the kit reads its long answers, the servers of other scenarios would not respond. */
const isAlone = ([name]) => name === 'snowflake IDs of several threads';
const waiting = wanted.filter((one) => !isAlone(one));
let [passed, failed] = [0, 0];
await Promise.all(Array.from({ length: Number(values.parallel) }, work));
for (const one of wanted.filter(isAlone)) await judge(...one);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);

async function work() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await judge(...next);
}

async function judge(name, scenario) {
  const began = performance.now();
  const trial = new Trial(command);
  try {
    await scenario(trial);
    await trial.end();
  } catch (error) {
    trial.check(false, 'answers', error.stack);
  } finally {
    trial.dispose();
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const faults = [...trial.faults].map(([rule, detail]) => `FAILED: ${name}: ${rule} (${RULES[rule]}): ${detail}\n`);
  process.stdout.write(faults.length === 0 ? `ok: ${name}, ${seconds} s\n` : faults.join(''));
  if (faults.length === 0) passed++;
  else failed++;
}
