import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** Longest time for a command, in milliseconds: far above the longest deadline of a scenario. */
const COMMAND_MS = 20_000;
/** Longest time from `close` to the end of the process, in milliseconds. */
const EXIT_MS = 8000;
const STDERR_CHARACTERS = 2000;

/** One process of a driver: the protocol of README.md. */
export class Driver {
  ended;
  exitCode;
  stderr = '';
  waiting = new Map();
  lastId = 0;

  /** @param {readonly string[]} command program and its arguments, without the options */
  constructor(command, options) {
    const [program, ...words] = command;
    this.child = spawn(program, [...words, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.ended = new Promise((resolve) => {
      this.child.on('error', (error) => ((this.stderr += error.message), resolve(undefined)));
      this.child.on('close', (code, signal) => resolve(code ?? signal));
    }).then((code) => this.end(code));
    this.child.stderr.on('data', (part) => (this.stderr = (this.stderr + part).slice(-STDERR_CHARACTERS)));
    this.child.stdin.on('error', () => {});
    createInterface({ input: this.child.stdout }).on('line', (line) => this.read(line));
  }

  /**
   * Sends a command. `sentAt` and `answeredAt` of the answer are monotonic milliseconds of the kit: the call in the client
   * was between them.
   */
  call(op, words = {}) {
    const id = ++this.lastId;
    const sentAt = performance.now();
    const answer = new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject, sentAt }));
    this.child.stdin.write(`${JSON.stringify({ id, op, ...words })}\n`);
    const late = sleep(COMMAND_MS, undefined, { ref: false }).then(() => {
      throw new Error(`the driver did not answer "${op}" within ${COMMAND_MS} ms`);
    });
    answer.catch(() => {});
    return Promise.race([answer, late]);
  }

  /** Closes the client; resolves with the exit code, undefined if the process does not end. */
  async close() {
    if (this.child.exitCode === null) this.call('close').catch(() => {});
    return this.exit();
  }

  /** The exit code; undefined if the process does not end in time. */
  exit() {
    return Promise.race([this.ended, sleep(EXIT_MS, undefined, { ref: false })]);
  }

  signal(name) {
    this.child.kill(name);
  }

  read(line) {
    const answeredAt = performance.now();
    let answer;
    try {
      answer = JSON.parse(line);
    } catch {
      return this.child.kill('SIGKILL');
    }
    const call = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    call?.resolve({ ...answer, sentAt: call.sentAt, answeredAt });
  }

  end(code) {
    this.exitCode = code;
    for (const { reject } of this.waiting.values()) reject(new Error(`the driver ended with ${code}: ${this.stderr}`));
    this.waiting.clear();
    return code;
  }
}
