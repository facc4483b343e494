// A process that makes IDs by the five rules of docs/worker-windows.md, and prints what it used: one line of JSON for
// each run of timestamps. Arguments: comma-separated ports of servers, token, IDs at a time, pause in milliseconds.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const [ports = '', token = '', size = '1000', pauseMs = '50'] = process.argv.slice(2);
const servers = ports.split(',');
const EPOCH = 1_288_834_974_657;
const WINDOW_MS = 10_000;
const SEQUENCES = 4096;
/** Every so many runs, all IDs of one millisecond are printed. */
const SAMPLE = 50;

let lease = randomBytes(16).toString('hex');
let window;
let newest = 0;
let sequence = -1;
let run;
let runs = 0;
let stopping = false;

async function request(method, path, body) {
  const port = servers[Math.floor(Math.random() * servers.length)];
  const response = await fetch(`http://127.0.0.1:${port}/api/workers${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(2000),
  });
  const answer = await response.json().catch(() => undefined);
  return { status: response.status, answer };
}

/** Rules 1, 3 and 4. */
async function keep() {
  while (!stopping) {
    const own = lease;
    const isDue = window === undefined || Date.now() > window.until - WINDOW_MS / 2;
    if (isDue) {
      try {
        const { status, answer } =
          window === undefined
            ? await request('POST', '', { lease, holder: `client-${process.pid}`, windowMs: WINDOW_MS })
            : await request('PUT', `/${lease}`, { windowMs: WINDOW_MS, workerId: window.workerId });
        if (own === lease && (status === 200 || status === 201)) window = answer;
        if (status === 404 || (status === 409 && answer?.code !== 'LEAF_WORKERS_USED_UP')) startOver();
      } catch {
        // The outcome is unknown: try again.
      }
    }
    await sleep(isDue ? 300 : 500);
  }
}

function startOver() {
  window = undefined;
  lease = randomBytes(16).toString('hex');
}

/** Rule 2. */
function make(count) {
  const now = Date.now();
  if (window === undefined || now < window.from || now > window.until || now < newest) return;
  if (now > newest) sequence = -1;
  newest = now;
  const first = sequence + 1;
  sequence = Math.min(SEQUENCES - 1, sequence + count);
  const base = (BigInt(now - EPOCH) << 22n) | BigInt(window.workerId << 12);
  const ids = [];
  for (let each = first; each <= sequence; each++) ids.push(base | BigInt(each));
  if (ids.length > 0) note(now, ids);
}

function note(now, ids) {
  const { workerId } = window;
  if (run?.workerId !== workerId || run.lease !== lease || now - run.from > 1000) flush();
  run ??= { workerId, lease, from: now, to: now, count: 0 };
  run.to = now;
  run.count += ids.length;
  if (runs % SAMPLE === 0) (run.sample ??= []).push(String(ids[0]), String(ids.at(-1)), ids.length);
}

function flush() {
  if (run !== undefined) console.log(JSON.stringify(run));
  run = undefined;
  runs++;
}

/** Rule 5. */
process.on('SIGTERM', async () => {
  stopping = true;
  flush();
  const lastTimestamp = window === undefined ? 0 : Math.max(newest, window.from - 1);
  await request('DELETE', `/${lease}`, { lastTimestamp }).catch(() => undefined);
  process.exit(0);
});

void keep();
while (!stopping) {
  make(Number(size));
  await sleep(Number(pauseMs));
}
