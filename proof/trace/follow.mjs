// Has TLC follow traces.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { getTlc } from '../tlc.mjs';

/** Steps that one run of TLC follows, if they are not of one trace. */
const BATCH = 20_000;

/**
 * @param {string} module LeaseTrace or RangeTrace
 * @param {readonly { name: string, lines: readonly object[], model: { steps: readonly object[] } }[]} traces
 * @returns {Promise<string[]>} the traces that are no behaviour of the module, each with the step that it does not have
 */
export async function follow(module, traces) {
  const refusals = [];
  for (const batch of batchesOf(traces)) {
    const reached = await reachedSteps(module, batch);
    batch.forEach((trace, index) => {
      const step = reached.get(index + 1);
      if (step <= trace.model.steps.length) refusals.push(refusalOf(trace, step));
    });
  }
  return refusals;
}

function batchesOf(traces) {
  const batches = [];
  let size = Infinity;
  for (const trace of traces) {
    const { length } = trace.model.steps;
    if (size + length > BATCH) {
      batches.push([]);
      size = 0;
    }
    batches.at(-1).push(trace);
    size += length;
  }
  return batches;
}

function refusalOf({ name, lines }, step) {
  const { process, n, ...rest } = lines[step - 1];
  return `${name}: step ${step} of ${lines.length}, line ${n} of ${process}: ${JSON.stringify(rest)}`;
}

/** @returns the first step that no behaviour of the module reaches, or the one after the last, by number of the trace */
async function reachedSteps(module, traces) {
  const folder = mkdtempSync(join(tmpdir(), 'leaf-trace-'));
  try {
    const values = traces.map(({ model }) => textOf(model)).join(',\n');
    const config = join(folder, `${module}.cfg`);
    writeFileSync(
      join(folder, 'Recorded.tla'),
      `---- MODULE Recorded ----\nEXTENDS Integers\nTraces == <<\n${values}\n>>\n====\n`,
    );
    writeFileSync(config, 'INIT Init\nNEXT Next\nCONSTRAINT Reach\n');
    const output = await tlc(module, folder, config);
    const found = [...output.matchAll(/<<"reached", (\d+), (\d+)>>/g)];
    const reached = new Map(found.map(([, trace, step]) => [Number(trace), Number(step)]));
    const error = output.indexOf('Error:');
    if (error >= 0 || reached.size !== traces.length)
      throw new Error(`TLC failed:\n${output.slice(error, error + 2000)}`);
    return reached;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A value as TLA+ writes it. */
function textOf(value) {
  if (Array.isArray(value)) return `<<${value.map(textOf).join(',\n')}>>`;
  if (value instanceof Set) return `{${[...value].map(textOf).join(', ')}}`;
  if (typeof value !== 'object')
    return typeof value === 'boolean' ? String(value).toUpperCase() : JSON.stringify(value);
  const fields = Object.entries(value).map(([name, each]) => `${name} |-> ${textOf(each)}`);
  return `[${fields.join(', ')}]`;
}

function tlc(module, folder, config) {
  const library = [folder, resolve(import.meta.dirname, '..')].join(delimiter);
  const args = [
    ...['-XX:+UseParallelGC', '-Xss64m', '-Xmx4g', `-DTLA-Library=${library}`, '-cp', getTlc(), 'tlc2.TLC'],
    ...['-deadlock', '-nowarning', '-workers', '1', '-metadir', folder, '-config', config, `${module}.tla`],
  ];
  return new Promise((done, reject) => {
    const child = spawn('java', args, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', reject).on('close', () => done(output));
  });
}
