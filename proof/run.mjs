// node proof/run.mjs [names] [--large [--minutes 30]] [--without R3|all] [--write-docs]: checks the models of models.mjs; see README.md.
import { parseArgs } from 'node:util';
import { writeSection } from '../scripts/write-section.mjs';
import { MODELS } from './models.mjs';
import { printTrace } from './print-trace.mjs';
import { check } from './tlc.mjs';

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    large: { type: 'boolean', default: false },
    // Of each large model. What is left is not checked.
    minutes: { type: 'string', default: '30' },
    without: { type: 'string' },
    'write-docs': { type: 'boolean', default: false },
    workers: { type: 'string', default: '2' },
  },
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const models = MODELS.filter(({ name }) => names.length === 0 || names.some((each) => name.startsWith(each)));
if (models.length === 0) throw new Error(`Unknown model. Models: ${MODELS.map(({ name }) => name).join(', ')}`);
const workers = Number(options.workers);
let passed = 0;
let failed = 0;
/** For the table of README.md. */
const rows = [];

if (options.without === undefined) {
  for (const model of models) await checkModel(model);
  if (names.length === 0 && rows.every(({ isComplete }) => isComplete !== false)) reportActions();
} else {
  const wanted = models.flatMap((model) =>
    removals(model).filter(({ rule }) => ['all', rule].includes(options.without)),
  );
  if (wanted.length === 0) throw new Error(`No model has the rule ${options.without}`);
  for (const each of wanted) await expect(each, options.without !== 'all');
}
if (options['write-docs'] && failed === 0) writeDocs();
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function report(isPassed, text) {
  if (isPassed) passed++;
  else failed++;
  console.log(`${isPassed ? 'passed' : 'FAILED'}  ${text}`);
}

/** Checks a model, and that each of its rules and assumptions is necessary. */
async function checkModel(model) {
  const { name, module, symmetry, invariants, large = {} } = model;
  const constants = { ...model.constants, ...(options.large ? large : {}), Without: [] };
  const result = await check(
    { module, symmetry, invariants, constants },
    { workers, coverage: true, minutes: options.large ? Number(options.minutes) : undefined },
  );
  const { states, depth, isComplete, violated, trace, seconds, actions } = result;
  const end = isComplete ? '' : ', not checked to its end';
  const size = `${states.toLocaleString('en-GB')} states, depth ${depth}, ${seconds.toFixed(0)} s${end}`;
  report(violated === undefined, `${name}: ${violated === undefined ? size : `${violated} does not hold`}`);
  if (violated !== undefined) printTrace(trace);
  rows.push({ model, kind: 'model', states, depth, isComplete, seconds, actions });
  const removed = removals(model).filter(({ isLarge }) => isLarge === options.large);
  for (const each of [...removed, ...(options.large ? [] : drops(model))]) await expect(each, false);
}

function removals(model) {
  return Object.entries(model.rules ?? {}).map(([rule, expected]) => {
    const given = typeof expected === 'string' ? { invariant: expected } : expected;
    const { invariant, constants = {}, isLarge = false } = given;
    return {
      ...{ model, rule, isLarge, what: `without ${rule}`, invariant, invariants: [invariant] },
      constants: { ...model.constants, ...(isLarge ? model.large : {}), ...constants, Without: [rule] },
    };
  });
}

function drops(model) {
  return Object.entries(model.assumptions ?? {}).map(
    ([assumption, { constants, invariant, invariants = model.invariants }]) => ({
      ...{ model, assumption, what: `without the assumption "${assumption}"`, invariant, invariants },
      constants: { ...model.constants, ...constants, Without: [] },
    }),
  );
}

/** Checks that the model does not hold, and that the expected invariant is the reason. */
async function expect({ model, rule, assumption, what, invariant, invariants, constants }, isPrinted) {
  const { name, module, symmetry } = model;
  // Several workers may find another one of several invariants first.
  const own = { workers: invariants.length > 1 ? 1 : workers };
  const { violated, trace, seconds } = await check({ module, symmetry, invariants, constants }, own);
  const found = violated === undefined ? `NOTHING, ${invariant} expected` : `${violated} in ${trace.length - 1} steps`;
  report(violated === invariant, `${name} ${what}: ${found}, ${seconds.toFixed(0)} s`);
  if (isPrinted || (violated !== undefined && violated !== invariant)) printTrace(trace);
  const actions = new Map(trace.map(({ action }) => [action, 1]));
  const kind = rule === undefined ? 'assumption' : 'rule';
  rows.push({ model, kind, rule, assumption, steps: trace.length - 1, violated, actions });
}

/** An action that never occurs would make a model say less than it seems to. */
function reportActions() {
  for (const module of new Set(models.map((model) => model.module))) {
    const totals = new Map();
    for (const { model, actions } of rows) {
      if (model.module !== module || actions === undefined) continue;
      for (const [action, times] of actions) totals.set(action, (totals.get(action) ?? 0) + times);
    }
    const never = [...totals].filter(([, times]) => times === 0).map(([action]) => action);
    const text =
      never.length === 0 ? `each of ${totals.size} actions occurs` : `these never occur: ${never.join(', ')}`;
    report(never.length === 0, `${module}: ${text}`);
  }
}

function writeDocs() {
  const size = options.large ? 'large' : 'small';
  const sizes = rows.filter(({ kind }) => kind === 'model');
  if (sizes.length > 0) {
    writeSection('proof/README.md', `models ${size}`, [
      `| model | distinct states | longest path | seconds |${options.large ? ' all states |' : ''}`,
      `| --- | --: | --: | --: |${options.large ? ' --- |' : ''}`,
      ...sizes.map(({ model, states, depth, isComplete, seconds }) => {
        const end = options.large ? ` ${isComplete ? 'yes' : 'no'} |` : '';
        return `| ${model.name} | ${states.toLocaleString('en-GB')} | ${depth} | ${seconds.toFixed(0)} |${end}`;
      }),
    ]);
  }
  const steps = rows.filter(({ kind }) => kind !== 'model');
  if (!options.large && steps.length > 0) {
    writeSection('proof/README.md', 'removals', [
      '| taken out | model | does not hold | steps |',
      '| --- | --- | --- | --: |',
      ...steps.map(
        ({ rule, assumption, model, violated, steps: length }) =>
          `| ${rule ?? assumption} | ${model.name} | \`${violated}\` | ${length} |`,
      ),
    ]);
  }
}
