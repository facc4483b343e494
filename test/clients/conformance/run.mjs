// node test/clients/conformance/run.mjs --command '<program>' [--server <url> --token <token>]: checks that a client keeps to the
// rules of docs/worker-windows.md.
//
// The program is started with three more arguments: URL, token and windowMs. It issues an ID about every millisecond and
// prints it, one a line, also after refusals. After SIGTERM it releases its worker ID and exits with code 0. The requests
// pass through this script, which loses, refuses and counts them. Without --server, this script answers them itself.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { FakeWindows } from './fake-windows.mjs';

const { values } = parseArgs({
  options: { command: { type: 'string' }, server: { type: 'string' }, token: { type: 'string', default: 'token' } },
});
if (values.command === undefined) {
  console.error("Usage: node test/clients/conformance/run.mjs --command '<program>' [--server <url> --token <token>]");
  process.exit(2);
}
/** The shortest that a server accepts. */
const WINDOW_MS = 10_000;
/** How late a client may be: it works in the background, and the machine may be busy. */
const LATE_MS = WINDOW_MS / 5;

const faults = [];
const check = (holds, fault) => void (holds || faults.push(fault));

/** Requests in order, with what was done to them and what was answered. */
const log = [];
const ids = [];
/** `lose`: executed, without an answer; `refuse`: 503; `end`: 409. */
let mode = 'answer';
const fake = new FakeWindows();

const proxy = createServer(async (incoming, response) => {
  let text = '';
  for await (const part of incoming.setEncoding('utf8')) text += part;
  const { method, url, headers } = incoming;
  const body = text === '' ? {} : JSON.parse(text);
  const lease = method === 'POST' ? body.lease : url.split('/').pop();
  const entry = { method, lease, body, headers, at: Date.now(), done: mode, answer: undefined };
  log.push(entry);
  if (entry.done === 'refuse') return send(response, 503, { code: 'LEAF_NOT_READY' });
  if (entry.done === 'end') return send(response, 409, { code: 'LEAF_LEASE_LOST' });
  const { status, answer } = await (values.server === undefined
    ? fake.handle(method, lease, body)
    : forward(incoming, text));
  if (entry.done === 'lose') return void response.destroy();
  if (status < 300) entry.answer = answer;
  send(response, status, answer);
});

function send(response, status, body) {
  const type = status < 300 ? 'application/json' : 'application/problem+json';
  const text = status === 204 ? '' : JSON.stringify(status < 300 ? body : { detail: 'conformance', status, ...body });
  response.writeHead(status, { 'content-type': type, 'retry-after': '1', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

async function forward({ method, url, headers }, text) {
  const sent = request(new URL(url, values.server), { method, headers });
  sent.end(text);
  const [response] = await once(sent, 'response');
  let answer = '';
  for await (const part of response.setEncoding('utf8')) answer += part;
  return { status: response.statusCode, answer: answer === '' ? undefined : JSON.parse(answer) };
}

proxy.listen(0, '127.0.0.1');
await once(proxy, 'listening');
const [program, ...words] = values.command.split(' ');
const url = `http://127.0.0.1:${proxy.address().port}`;
const client = spawn(program, [...words, url, values.token, String(WINDOW_MS)], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
client.on('error', (error) => fail(error.message));
const ended = once(client, 'close');
createInterface({ input: client.stdout }).on('line', (line) => ids.push(BigInt(line)));

const answered = (method, from = 0) =>
  log.findIndex((each, index) => index >= from && each.method === method && each.answer);
async function until(what, look, limitMs = 4 * WINDOW_MS) {
  for (const deadline = Date.now() + limitMs; ; await sleep(10)) {
    const seen = look();
    if (seen !== undefined && seen !== false && seen !== -1) return seen;
    if (Date.now() > deadline || client.exitCode !== null) fail(`not seen: ${what}`);
  }
}
function fail(fault) {
  console.error([...faults, fault].map((each) => `FAILED: ${each}`).join('\n'));
  client.kill('SIGKILL');
  process.exit(1);
}

// 1. The answers of the first requests are lost.
mode = 'lose';
await until('a POST', () => log.length > 1);
mode = 'answer';
const first = log[await until('a POST with an answer', () => answered('POST'))];
const tries = log.slice(0, log.indexOf(first) + 1);
check(
  tries.every(({ method, lease }) => method === 'POST' && lease === first.lease),
  'rule 1: a POST was tried again with another lease',
);
check(/^[0-9a-f]{32}$/i.test(first.lease), 'rule 1: the lease must be 32 hexadecimal digits');
const { layout, workerId } = first.answer;
const fieldsOf = (id) => ({
  timestamp: Number(id >> BigInt(layout.workerBits + layout.sequenceBits)) + layout.epoch,
  workerId: Number((id >> BigInt(layout.sequenceBits)) & ((1n << BigInt(layout.workerBits)) - 1n)),
});
await until('an ID', () => ids.length > 0);

// 2. It extends when half of the window has passed, and names its worker.
const second = log[await until('a PUT', () => answered('PUT'))];
const half = first.at + (first.answer.until - first.answer.now) / 2;
check(Math.abs(second.at - half) <= LATE_MS, `rule 3: the PUT came ${second.at - half} ms from half of the window`);
check(second.lease === first.lease, 'rule 3: the PUT has another lease');

// 3. No server answers until the window has ended. It stops, tries again, and goes on.
mode = 'refuse';
const end = second.answer.until;
await until('the end of the window', () => Date.now() > end + LATE_MS);
check(log.filter(({ done }) => done === 'refuse').length > 1, 'rule 3: a PUT that failed was not tried again');
const stopped = ids.length;
await sleep(LATE_MS);
check(ids.length === stopped, 'rule 2: it issued IDs after the end of its window');
const outage = log.length;
mode = 'answer';
await until('a PUT after the outage', () => answered('PUT', outage));
await until('IDs after the outage', () => ids.length > stopped);

// 4. 409 ends the worker at once. The next one has another lease.
const before = log.length;
mode = 'end';
const refusal = await until('a PUT', () => log.find(({ done }) => done === 'end'));
mode = 'answer';
const third = log[await until('another POST', () => answered('POST', before))];
check(third.lease !== first.lease, 'rule 4: it went on with a lease that it had lost');
await until('an ID of the next worker', () => fieldsOf(ids.at(-1)).workerId === third.answer.workerId);
const late = ids.map(fieldsOf).filter((id) => id.workerId === workerId && id.timestamp > refusal.at + LATE_MS);
check(workerId === third.answer.workerId || late.length === 0, `rule 4: ${late.length} IDs of the lost worker`);

// 5. SIGTERM: it releases its worker with the newest timestamp.
await sleep(LATE_MS);
client.kill('SIGTERM');
const [code] = await Promise.race([ended, sleep(10_000, ['(still running)'])]);
check(code === 0, `it exited with ${code} after SIGTERM`);
const last = log.at(-1);
const newest = Math.max(...ids.map(fieldsOf).map(({ timestamp }) => timestamp));
check(last.method === 'DELETE' && last.lease === third.lease, 'rule 5: it did not release its worker at the end');
check(Number(last.headers['content-length']) > 0, 'rule 5: the DELETE has no Content-Length');
check(
  last.body.lastTimestamp === newest,
  `rule 5: lastTimestamp is ${last.body.lastTimestamp}, the newest ID has ${newest}`,
);

const windows = log.flatMap(({ answer }) => answer ?? []);
const outside = ids
  .map(fieldsOf)
  .filter(({ timestamp, workerId: worker }) =>
    windows.every((window) => window.workerId !== worker || timestamp < window.from || timestamp > window.until),
  );
check(outside.length === 0, `rule 2: ${outside.length} IDs outside of a window`);
check(new Set(ids).size === ids.length, 'an ID came twice');
check(
  log.every(({ headers }) => headers.authorization === `Bearer ${values.token}`),
  'a request has no token',
);
if (faults.length > 0) fail('the client does not keep to the rules');
console.log(`The client keeps to the rules: ${ids.length} IDs, ${log.length} requests.`);
process.exit();
