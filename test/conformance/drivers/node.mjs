// The driver of LeafClient: node test/conformance/drivers/node.mjs '<options>'. It needs the build
// (node scripts/ensure-build.mjs).
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';

const build = join(import.meta.dirname, '../../../dist');
const require = createRequire(import.meta.url);
const { LeafClient } = require(join(build, 'libs/client/src/index.js'));
const { SystemClock } = require(join(build, 'libs/core/src/index.js'));
const { stepFile, StepLog } = require(join(build, 'libs/core/src/internal.js'));
/** A loop lets answers arrive this often, in milliseconds. */
const TURN_MS = 5;

/** The clock of the host, which commands step and stop. */
class SteppedClock extends SystemClock {
  offset = 0;
  frozenAt = 0;
  frozenUntil = -Infinity;
  pending = undefined;

  now() {
    const isFrozen = performance.now() < this.frozenUntil;
    const now = (isFrozen ? this.frozenAt : super.now()) + this.offset;
    if (this.pending !== undefined && --this.pending.afterReads === 0) {
      this.offset += this.pending.ms;
      this.pending = undefined;
    }
    return now;
  }

  freeze(ms) {
    this.frozenAt = super.now();
    this.frozenUntil = performance.now() + ms;
  }
}

const clock = new SteppedClock();
const options = JSON.parse(process.argv[2]);
const preload = { snowflake: options.snowflake?.mode === 'window' };
const { LEAF_STEP_LOG: steps } = process.env;
const stepLog = steps === undefined ? undefined : new StepLog(clock, stepFile(steps));
const client = new LeafClient({ ...options, preload, ...(stepLog && { stepLog }) }, clock);

const commands = {
  async next({ tag, count }) {
    const ids = count === undefined ? [await client.nextId(tag)] : await client.nextIds(tag, count);
    return { ids: ids.map(String) };
  },
  async period({ tag, date }) {
    const { period, number } = await client.nextInPeriod(tag, date === undefined ? undefined : new Date(date));
    return { number: String(number), period };
  },
  ready: () => client.ready(),
  async snowflake({ count = 1, step }) {
    const ids = [];
    clock.pending = step && { ...step };
    try {
      while (ids.length < count) ids.push(client.snowflakeString());
      return { ids };
    } catch (error) {
      return { ids, ...failure(error) };
    } finally {
      clock.pending = undefined;
    }
  },
  decode({ value }) {
    const { timestamp, workerId, sequence } = client.decode(BigInt(value));
    return { timestamp, workerId, sequence };
  },
  step: ({ ms }) => void (clock.offset += ms),
  freeze: ({ ms }) => clock.freeze(ms),
  run: ({ what, tag, ms, record = true, limit = Infinity }) =>
    run(what === 'snowflake' ? () => client.snowflake() : () => client.tryNext(tag) ?? client.nextId(tag), {
      ...{ ms, record, limit },
    }),
};

async function run(take, { ms, record, limit }) {
  const runs = new Runs();
  const refused = {};
  const began = process.hrtime.bigint();
  const end = performance.now() + ms;
  let count = 0;
  for (let turnAt = performance.now() + TURN_MS; performance.now() < end && count < limit;) {
    try {
      const taken = take();
      const id = typeof taken === 'bigint' ? taken : await taken;
      count++;
      if (record) runs.add(id);
    } catch (error) {
      const { code } = failure(error);
      refused[code] = (refused[code] ?? 0) + 1;
      await sleep(1);
    }
    if (performance.now() < turnAt) continue;
    await turn();
    turnAt = performance.now() + TURN_MS;
  }
  const ns = Number(process.hrtime.bigint() - began);
  return { count, ns, ...(record && { runs: runs.texts }), refused };
}

/** Joins consecutive IDs. */
class Runs {
  all = [];

  add(id) {
    const last = this.all.at(-1);
    if (last !== undefined && last[0] + BigInt(last[1]) === id) last[1]++;
    else this.all.push([id, 1]);
  }

  get texts() {
    return this.all.map(([first, count]) => [String(first), count]);
  }
}

function failure({ code = 'UNKNOWN', message }) {
  return { code, message };
}

function answer(id, values) {
  process.stdout.write(`${JSON.stringify({ id, ...values })}\n`);
}

async function execute(id, command) {
  try {
    answer(id, await command());
  } catch (error) {
    answer(id, failure(error));
  }
}

async function close(id) {
  await client.close();
  await Promise.all(running);
  if (id !== undefined) answer(id);
  process.stdout.end(() => process.exit(0));
}

/** Commands without an answer yet. */
const running = new Set();
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id, op, ...words } = JSON.parse(line);
  if (op === 'close') return void close(id);
  const command = execute(id, () => commands[op](words)).finally(() => running.delete(command));
  return void running.add(command);
});
lines.on('close', () => void close());
process.on('SIGTERM', () => void close());
