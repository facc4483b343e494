import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { runMain } from '../harness';
import { ConnectionPool } from './connections';
import type { Load } from './load';
import { LoadRecord } from './record';

/** Time to open the connections. */
const SETTLE_MS = 500;
/** Time to wait for the last responses. */
const ANSWER_LIMIT_MS = 10_000;

/** The load generator process: reads a load from standard input, writes a line with its result to standard output. */
async function main(): Promise<void> {
  const [line] = (await once(createInterface(process.stdin), 'line')) as [string];
  const { port, path, connections, perSecond, seconds } = JSON.parse(line) as Load;
  const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`;
  const pool = new ConnectionPool(port, Buffer.from(request), connections);
  await sleep(SETTLE_MS);
  const record = new LoadRecord();
  console.log(JSON.stringify(record.result(await offer(pool, perSecond, seconds, record))));
}

/**
 * Open loop: requests are due at a fixed rate. Each is sent when a connection is free, and latency counts from the time
 * at which it was due, so that a stall of the server counts for each request due during it.
 *
 * @returns the number of requests without a response
 */
async function offer(pool: ConnectionPool, perSecond: number, seconds: number, record: LoadRecord): Promise<number> {
  const total = Math.floor(perSecond * seconds);
  const dueAt = (index: number): number => (index * 1000) / perSecond;
  const endsAt = seconds * 1000 + ANSWER_LIMIT_MS;
  let noticed = 0;
  let sent = 0;
  while (record.answered < total && record.elapsedMs < endsAt) {
    const due = Math.min(total, Math.floor((record.elapsedMs * perSecond) / 1000));
    for (; noticed < due; noticed++) record.notice(dueAt(noticed));
    while (sent < due && send(pool, record, dueAt(sent))) sent++;
    await turn();
  }
  return total - record.answered;
}

/** Returns whether a connection was free. */
function send(pool: ConnectionPool, record: LoadRecord, dueAt: number): boolean {
  const connection = pool.take();
  connection?.send((status) => {
    pool.giveBack(connection);
    record.answer(status, dueAt);
  });
  return connection !== undefined;
}

runMain(main);
