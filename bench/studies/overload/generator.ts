import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ClientPool } from './client-pool';
import type { Order, PhaseResult } from './phases';
import { PhaseRecord } from './phase-record';

/** For the first connections to be there. */
const SETTLE_MS = 500;
/** For the last answers of a phase whose answers are all waited for. */
const ANSWER_LIMIT_MS = 10_000;

/** The load generator, a process of its own: an order on standard input, a line of results on standard output. */
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
    results.push(record.result());
  }
  pool.resize(0);
  console.log(JSON.stringify(results));
}

/** Every connection asks again as soon as it is answered. */
async function saturate(pool: ClientPool, seconds: number, record: PhaseRecord): Promise<void> {
  while (record.elapsedMs < seconds * 1000) {
    while (send(pool, record, record.elapsedMs));
    await turn();
  }
}

/**
 * Requests fall due at a fixed rate, whatever becomes of those before. One that finds no connection free is not sent;
 * the latency of the others counts from the moment they were due.
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
 * As above, but every request is sent, once a connection is free, and every answer is waited for: a stall of the server
 * counts for each request that fell due during it.
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
  if (record.answered < total) throw new Error(`${total - record.answered} of ${total} requests were not answered.`);
}

/** Whether a connection was free. */
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
