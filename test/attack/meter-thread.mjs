// A worker thread that requests IDs at a fixed rate on its own connections and reports how long each request took.
// Messages in: the length of a window in milliseconds. Messages out: what happened to the requests of that window.
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

const { target, sources, perSecond, fresh } = workerData;
const { port, respPort, token } = target;
/** The longest that one request may take. It counts as long as this when nothing has answered by then. */
const LIMIT_MS = 30_000;
const CONNECTIONS = 8;
const agent = fresh ? false : new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
/** Connections of the Redis protocol, used in turn. */
const commandLines = [];
const issued = new Set();
let sent = 0;

parentPort.on('message', async (windowMs) => parentPort.postMessage(await measure(windowMs)));

async function measure(windowMs) {
  const begin = performance.now();
  const requests = [];
  for (let elapsed = 0; elapsed < windowMs; elapsed = performance.now() - begin) {
    // Requests that are due while this thread waits for a processor are sent together, and none is left out.
    while (requests.length < (elapsed * perSecond) / 1000) requests.push(take(sources[sent++ % sources.length]));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const answers = await Promise.all(requests);
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  const statuses = {};
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  return {
    p50: times[Math.floor(times.length * 0.5)],
    p99: times[Math.floor(times.length * 0.99)],
    max: times.at(-1),
    statuses,
    duplicates: answers.filter(({ isDuplicate }) => isDuplicate).length,
  };
}

/** @param source a path, or a command of the Redis protocol */
async function take(source) {
  const begin = performance.now();
  const { status, id } = await (source.startsWith('/') ? ask(source) : send(source));
  const ms = performance.now() - begin;
  // All sources share the IDs of one tag, and the snowflake IDs.
  const isDuplicate = status === 200 && issued.has(id);
  if (status === 200) issued.add(id);
  return { status, ms, isDuplicate };
}

function ask(path) {
  return new Promise((resolve) => {
    const end = (status, id = '') => resolve({ status, id });
    const outgoing = request({ host: '127.0.0.1', port, path, agent, headers, timeout: LIMIT_MS }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (part) => (body += part));
      response.on('error', ({ code }) => end(code));
      response.on('end', () => end(response.statusCode, body));
    });
    outgoing.on('timeout', () => outgoing.destroy(Object.assign(new Error('timeout'), { code: 'timeout' })));
    outgoing.on('error', ({ code }) => end(code));
    outgoing.end();
  });
}

async function send(command) {
  if (fresh) {
    const line = new CommandLine();
    const answer = await line.send(command);
    line.end();
    return answer;
  }
  const place = sent % CONNECTIONS;
  if (commandLines[place]?.closed !== false) commandLines[place] = new CommandLine();
  return commandLines[place].send(command);
}

/** A connection for inline commands whose replies are integers, or errors with a code. */
class CommandLine {
  closed = false;
  #waiting = [];
  #rest = '';

  constructor() {
    this.socket = connect(respPort, '127.0.0.1').setNoDelay().setEncoding('latin1').setTimeout(LIMIT_MS);
    this.socket.on('data', (text) => this.#read(text));
    this.socket.on('timeout', () => this.#close('timeout'));
    this.socket.on('error', ({ code }) => this.#close(code));
    this.socket.on('close', () => this.#close('closed'));
    if (token !== undefined) void this.send(`AUTH ${token}`);
  }

  send(command) {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.socket.write(`${command}\r\n`);
    });
  }

  end() {
    this.socket.end();
  }

  #read(text) {
    const lines = (this.#rest + text).split('\r\n');
    this.#rest = lines.pop();
    for (const line of lines) {
      const isError = line.startsWith('-');
      this.#waiting.shift()({ status: isError ? line.slice(1, line.indexOf(' ')) : 200, id: line.slice(1) });
    }
  }

  #close(status) {
    this.closed = true;
    this.socket.destroy();
    for (const resolve of this.#waiting.splice(0)) resolve({ status });
  }
}
