import { HOLDER, TOKEN, WINDOW_MS, WORKER_TOKEN } from './options.mjs';

const NONCE = /^[\w-]{1,64}$/;
const LEASE = /^[0-9a-f]{32}$/i;
/** How late the end of a request may be noticed, in milliseconds. */
const NOTICE_MS = 200;
const MARKS = 1000;

/** What holds for the requests of every scenario. */
export function checkRequests(trial) {
  const { check } = trial;
  const nonces = new Map();
  for (const request of trial.requests) {
    const { kind, headers, path, method } = request;
    const token = kind === 'window' ? WORKER_TOKEN : TOKEN;
    check(headers.authorization === `Bearer ${token}`, 'token', `${method} ${path}: ${headers.authorization}`);
    if (kind === 'window') checkWindowRequest(check, request);
    else {
      check(NONCE.test(request.nonce ?? ''), 'nonce', `${path} has no valid nonce`);
      const before = nonces.get(request.nonce);
      const isOther = before === undefined || wasUnread(before, request.at);
      check(isOther, 'nonce', `${path} has the nonce of another request`);
      nonces.set(request.nonce, request);
    }
  }
  const ofWindows = trial.requests.filter(({ kind }) => kind === 'window');
  checkOneAtATime(trial, ofWindows);
  for (const driver of trial.drivers) if (driver.exitCode === 0) checkRelease(trial, driver);
}

/** An HTTP library may repeat a request whose connection was closed before it had read the answer. */
function wasUnread({ answeredAt, socket }, at) {
  return answeredAt === undefined || (socket.endedAt ?? Infinity) <= at + NOTICE_MS;
}

function checkWindowRequest(check, { method, lease, body = {}, headers }) {
  check(LEASE.test(lease ?? ''), 'lease', `${lease} is not 32 hexadecimal digits`);
  if (method === 'POST') {
    check(body.holder === HOLDER, 'lease', `the holder in a POST is ${body.holder}`);
    check(body.windowMs === WINDOW_MS, 'lease', `windowMs in a POST is ${body.windowMs}`);
  }
  if (method === 'PUT') check(body.windowMs === WINDOW_MS, 'extend', `windowMs in a PUT is ${body.windowMs}`);
  if (method === 'PUT' && body.mark !== undefined) {
    check(Number.isInteger(body.mark) && body.mark >= 0 && body.mark < MARKS, 'mark', `a mark is ${body.mark}`);
    check(body.known !== undefined, 'mark', 'a PUT has a mark without known');
  }
  if (method === 'DELETE') check(Number(headers['content-length']) > 0, 'release', 'a DELETE has no Content-Length');
}

/** Of one lease: the client may give a request up, but not send another one beside it. */
function checkOneAtATime({ check, requestTimeoutMs }, requests) {
  requests.forEach((request, index) => {
    const before = requests.slice(0, index).findLast(({ lease }) => lease === request.lease);
    if (before === undefined) return;
    const { at, answeredAt = Infinity, endedAt = Infinity } = before;
    const end = Math.min(answeredAt, endedAt, at + requestTimeoutMs);
    check(end <= request.at + NOTICE_MS, 'single', `a ${request.method} was sent during a ${before.method}`);
  });
}

/** The last window of a process that was closed is given back with the newest timestamp. */
function checkRelease(trial, driver) {
  const { windows, withoutRelease } = trial;
  if (withoutRelease || trial.drivers.length > 1 || windows.grants.length === 0) return;
  const last = windows.newest;
  const deletes = trial.requests.filter(({ method }) => method === 'DELETE');
  const done = deletes.filter(({ lease, answer }) => lease === last?.lease && answer?.status === 204);
  trial.check(done.length > 0, 'release', 'the worker was not released at the end');
  for (const { body } of done) {
    const first = windows.grants.find(({ lease }) => lease === last.lease).from;
    const newest = windows.newestTimestamp(driver, last.workerId) ?? first - 1;
    trial.check(
      body?.lastTimestamp === newest,
      'release',
      `lastTimestamp is ${body?.lastTimestamp}, the newest timestamp is ${newest}`,
    );
  }
}
