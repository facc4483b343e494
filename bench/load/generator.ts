import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ClientPool } from './client-pool';
import type { Order, PhaseResult } from './phases';
import { PhaseRecord } from './phase-record';

/** Time to open the first connections. */
const SETTLE_MS = 500;
/** Time to wait for the last responses of a phase. */
const ANSWER_LIMIT_MS = 10_000;

/** The load generator process: reads a job from standard input, writes a line of results to standard output. */
async function main(): Promise<void> {
  const [line] = (await once(createInterface(process.stdin), 'line')) as [string];
  const { port, path, phases } = JSON.parse(line) as Order;
  const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`;
  const pool = new ClientPool(port, Buffer.from(request));
  const results: PhaseResult[] = [];
  for (const { connections, perSecond, seconds, waits = false } of phases) {
    pool.resize(connections);
    if (results.length === 0) await turn(SETTLE_MS);
    const record = new PhaseRecord(seconds);
    if (perSecond === undefined) await saturate(pool, seconds, record);
    else if (waits) await offerAll(pool, perSecond, seconds, record);
    else await offer(pool, perSecond, seconds, record);
    results.push(record.result(pool.countEnded()));
  }
  pool.resize(0);
  console.log(JSON.stringify(results));
}

/** Closed loop: every connection sends the next request when it receives a response. */
async function saturate(pool: ClientPool, seconds: number, record: PhaseRecord): Promise<void> {
  while (record.elapsedMs < seconds * 1000) {
    while (send(pool, record, record.elapsedMs));
    await turn();
  }
}

/**
 * Open loop: requests are due at a fixed rate. Requests without a free connection are not sent; latency counts from the
 * time at which a request was due.
 */
async function offer(pool: ClientPool, perSecond: number, seconds: number, record: PhaseRecord): Promise<void> {
  const total = Math.floor(perSecond * seconds);
  const dueAt = (index: number): number => (index * 1000) / perSecond;
  while (record.elapsedMs < seconds * 1000) {
    const due = Math.min(total, Math.floor((record.elapsedMs * perSecond) / 1000));
    while (record.offered < due) {
      if (!send(pool, record, dueAt(record.offered))) record.skip(due - record.offered);
    }
    await turn();
  }
}

/**
 * Like the function above, but sends every request when a connection is free and waits for every response, so that a
 * stall of the server counts for each request due during it. Those without a response in the end have failed.
 */
async function offerAll(pool: ClientPool, perSecond: number, seconds: number, record: PhaseRecord): Promise<void> {
  const total = Math.floor(perSecond * seconds);
  const dueAt = (index: number): number => (index * 1000) / perSecond;
  const endsAt = seconds * 1000 + ANSWER_LIMIT_MS;
  let noticed = 0;
  while (record.answered < total && record.elapsedMs < endsAt) {
    const due = Math.min(total, Math.floor((record.elapsedMs * perSecond) / 1000));
    const before = noticed;
    for (; noticed < due; noticed++) record.notice(dueAt(noticed));
    while (record.offered < due && send(pool, record, dueAt(record.offered)));
    record.hold(due - Math.max(before, record.offered));
    await turn();
  }
  record.abandon(total - record.answered);
}

/** Returns whether a connection was free. */
function send(pool: ClientPool, record: PhaseRecord, dueAt: number): boolean {
  const connection = pool.take();
  if (connection === undefined) return false;
  record.offered++;
  connection.send((status) => {
    pool.giveBack(connection);
    record.answer(status, dueAt);
  });
  return true;
}

function turn(ms = 0): Promise<void> {
  return new Promise((resolve) => (ms === 0 ? setImmediate(resolve) : setTimeout(resolve, ms)));
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
