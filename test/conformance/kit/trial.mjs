import { setTimeout as sleep } from 'node:timers/promises';
import { Driver } from './driver.mjs';
import { Ranges } from './ranges.mjs';
import { OPTIONS, WINDOW } from './options.mjs';
import { checkRequests } from './requests.mjs';
import { RULES } from './rules.mjs';
import { ScriptedServer } from './scripted-server.mjs';
import { Windows } from './windows.mjs';

/** One run of a scenario: its servers, the processes of the client, and the faults that were found. */
export class Trial {
  faults = new Map();
  servers = [];
  drivers = [];
  ranges = new Ranges();
  windows = new Windows();
  /** The rule that IDs issued twice break. */
  duplicates = 'unique';
  /** Whether the client ends without a DELETE: it has lost its worker, or was killed. */
  withoutRelease = false;
  requestTimeoutMs = OPTIONS.requestTimeoutMs;

  constructor(command) {
    this.command = command;
  }

  /** Notes the first fault of each rule. */
  check = (holds, rule, detail) => {
    if (RULES[rule] === undefined) throw new Error(`There is no rule ${rule}`);
    if (!holds && !this.faults.has(rule)) this.faults.set(rule, detail);
  };

  async server(respond) {
    const server = await new ScriptedServer(respond).open();
    this.servers.push(server);
    return server;
  }

  /** All requests, in the order of their arrival. */
  get requests() {
    return this.servers.flatMap(({ requests }) => requests).sort((a, b) => a.at - b.at);
  }

  /** Starts a process of the client for the servers of this trial; resolves when it obeys commands. */
  async start(options = {}) {
    const servers = this.servers.map(({ url }) => url);
    this.requestTimeoutMs = options.requestTimeoutMs ?? OPTIONS.requestTimeoutMs;
    const driver = new Driver(this.command, { servers, ...OPTIONS, ...options });
    this.drivers.push(driver);
    await driver.call('step', { ms: 0 });
    return driver;
  }

  startWindow({ snowflake = {}, ...options } = {}) {
    return this.start({ ...options, snowflake: { ...WINDOW, ...snowflake } });
  }

  /** IDs of a tag. @param code the code with which the call is expected to fail; `any` also allows that it succeeds */
  async next(driver, tag, count, code) {
    const answer = await driver.call('next', { tag, ...(count !== undefined && { count }) });
    this.checkCode(answer, code, `next("${tag}", ${count})`);
    this.recordIds(tag, answer, count ?? 1);
    return answer;
  }

  async period(driver, tag, date, code) {
    const answer = await driver.call('period', { tag, ...(date !== undefined && { date }) });
    this.checkCode(answer, code, `period("${tag}")`);
    if (answer.number !== undefined)
      this.ranges.record(`${tag}@${answer.period}`, [[BigInt(answer.number), 1n]], answer);
    return answer;
  }

  /** Snowflake IDs of a process; the answer has those until a call failed. */
  async snowflake(driver, count = 1, step = undefined) {
    const answer = await driver.call('snowflake', { count, ...(step && { step }) });
    const ids = (answer.ids ?? []).map(BigInt);
    this.windows.record(
      driver,
      ids.map((id) => [id, 1n]),
      answer,
    );
    return { ...answer, ids };
  }

  async runSnowflake(driver, words) {
    const answer = await driver.call('run', { what: 'snowflake', ...words });
    const runs = readRuns(answer);
    this.windows.record(driver, runs, answer);
    return { ...answer, runs };
  }

  async runSegment(driver, tag, words) {
    const answer = await driver.call('run', { what: 'segment', tag, ...words });
    this.ranges.record(tag, readRuns(answer), answer);
    return answer;
  }

  async ready(driver, code) {
    const answer = await driver.call('ready');
    this.checkCode(answer, code, 'ready');
    return answer;
  }

  /** Waits for something that is to come. */
  async until(rule, what, look, limitMs = 8000) {
    for (const end = performance.now() + limitMs; performance.now() < end; await sleep(5)) {
      const seen = look();
      if (seen !== undefined && seen !== false) return seen;
    }
    this.check(false, rule, `not seen within ${limitMs} ms: ${what}`);
    return undefined;
  }

  /** Waits for the nth request that `matches`; resolves once its answer was sent. */
  answered(rule, what, matches, count = 1, limitMs = 8000) {
    return this.until(
      rule,
      what,
      () => this.requests.filter((each) => matches(each) && each.answeredAt !== undefined)[count - 1],
      limitMs,
    );
  }

  checkCode(answer, code, call) {
    if (code === 'any') return;
    if (code === undefined)
      this.check(answer.code === undefined, 'answers', `${call}: ${answer.code} ${answer.message}`);
    else this.check(answer.code === code, 'answers', `${call} must fail with ${code}: ${answer.code ?? 'it did not'}`);
  }

  recordIds(tag, { ids, sentAt, answeredAt, code }, count) {
    if (ids === undefined) return;
    const read = ids.map(BigInt);
    this.check(read.length === count || code !== undefined, 'answers', `${read.length} IDs instead of ${count}`);
    const wrong = read.findIndex((id, index) => index > 0 && id <= read[index - 1]);
    this.check(wrong < 0, 'ascending', `${read[wrong]} of ${tag} after ${read[wrong - 1]}`);
    this.ranges.record(
      tag,
      read.map((id) => [id, 1n]),
      { sentAt, answeredAt },
    );
  }

  /** Ends the processes that still run, and checks what holds in every scenario. */
  async end() {
    const running = this.drivers.filter(({ exitCode }) => exitCode === undefined);
    for (const driver of running) {
      const code = await driver.close();
      this.check(code === 0, 'close', `the process ended with ${code} after close ${driver.stderr}`);
    }
    this.ranges.check(this.check, this.duplicates);
    this.windows.check(this.check);
    checkRequests(this);
  }

  dispose() {
    for (const driver of this.drivers) if (driver.exitCode === undefined) driver.signal('SIGKILL');
    for (const server of this.servers) server.close();
  }
}

function readRuns({ runs = [] }) {
  return runs.map(([first, count]) => [BigInt(first), BigInt(count)]);
}
