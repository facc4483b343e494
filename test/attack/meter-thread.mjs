// A worker thread that requests IDs at a fixed rate on its own connections and reports how long each request took.
// Messages in: the length of a window in milliseconds. Messages out: what happened to the requests of that window.
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { port, paths, perSecond, fresh } = workerData;
/** The longest that one request may take. It counts as long as this when nothing has answered by then. */
const LIMIT_MS = 30_000;
const agent = fresh ? false : new Agent({ keepAlive: true, maxSockets: 8 });
const issued = new Set();
let sent = 0;

parentPort.on('message', async (windowMs) => parentPort.postMessage(await measure(windowMs)));

async function measure(windowMs) {
  const begin = performance.now();
  const requests = [];
  for (let elapsed = 0; elapsed < windowMs; elapsed = performance.now() - begin) {
    // Requests that are due while this thread waits for a processor are sent together, and none is left out.
    while (requests.length < (elapsed * perSecond) / 1000) requests.push(ask(paths[sent++ % paths.length]));
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

function ask(path) {
  const begin = performance.now();
  return new Promise((resolve) => {
    const end = (status, id = '') => {
      const key = `${path} ${id}`;
      const isDuplicate = status === 200 && issued.has(key);
      if (status === 200) issued.add(key);
      resolve({ status, ms: performance.now() - begin, isDuplicate });
    };
    const outgoing = request({ host: '127.0.0.1', port, path, agent, timeout: LIMIT_MS }, (response) => {
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
