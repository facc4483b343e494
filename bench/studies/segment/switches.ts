import type { SegmentIdGenerator } from '@leaf-ids/core/internal';
import { decimals, formatTable, whole } from '../../report/table';
import { summarize, type Summary } from '../../report/summary';
import { below, type Target } from '../../report/targets';
import type { MariadbServer } from '../../../test/support/servers/mariadb';
import { TcpProxy } from '../../../test/support/http/tcp-proxy';
import { insertTags, makeGenerator, open } from './database';
import type { LatencyFigures } from './latencies';
import { Observed, offer } from './offered-load';

/** Calls per second. */
const RATE = 100_000;
/** Added round-trip time of each statement, in milliseconds. */
const ROUND_TRIP_MS = 200;
/** IDs for half a second. The IDs left at the prefetch last twice as long as the statement. */
const STEP = 50_000;
/** Waiting calls are expensive: a lower rate, with segments that last as long. */
const SLOWER = 10;
const P999_LIMIT_MS = 1;

export interface SwitchPlan {
  readonly rounds: number;
  readonly roundMs: number;
}

interface Row {
  readonly name: string;
  readonly switches: number;
  readonly refused: number;
  readonly unordered: number;
  readonly calls: LatencyFigures;
  readonly due: LatencyFigures;
}

export interface SwitchReport {
  readonly rows: readonly Row[];
  /** Duration of one load per round, in milliseconds. */
  readonly loadMs: Summary;
}

/**
 * Latency of IDs while each segment comes from a slow database. A counter shows the noise of the machine; a generator
 * without prefetch shows that the benchmark detects waiting.
 */
export async function measureSwitches(mariadb: MariadbServer, { rounds, roundMs }: SwitchPlan): Promise<SwitchReport> {
  const proxy = await TcpProxy.start(mariadb.port);
  const url = await mariadb.createDatabase();
  const database = await open(url.replace(`:${mariadb.port}/`, `:${proxy.port}/`));
  await insertTags(database, ['buffered'], STEP);
  await insertTags(database, ['late'], STEP / SLOWER);
  const buffered = makeGenerator(database.store, STEP);
  const late = makeGenerator(database.store, STEP / SLOWER, 1);
  let count = 0n;
  const counter = (): Promise<bigint> => Promise.resolve(count++);
  const next = (): Promise<bigint> => buffered.next('buffered');
  const nextLate = (): Promise<bigint> => late.next('late');

  await offer(counter, RATE, roundMs / 4, new Observed());
  await offer(next, RATE, roundMs / 4, new Observed());
  await nextLate();
  proxy.delay(ROUND_TRIP_MS / 2);
  const observed = { counter: new Observed(), buffered: new Observed(), late: new Observed() };
  const loaded = { buffered: stateOf(buffered).loads, late: stateOf(late).loads };
  const loadMs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    console.error(`switches, round ${round + 1} of ${rounds} …`);
    await offer(counter, RATE, roundMs, observed.counter);
    await offer(next, RATE, roundMs, observed.buffered);
    loadMs.push(stateOf(buffered).lastLoadMs ?? 0);
    await offer(nextLate, RATE / SLOWER, roundMs / 2, observed.late);
  }
  const switches = {
    buffered: stateOf(buffered).loads - loaded.buffered,
    late: stateOf(late).loads - loaded.late,
  };
  proxy.heal();
  await Promise.all([buffered.close(), late.close()]);
  await database.dataSource.destroy();
  await proxy.stop();
  return {
    loadMs: summarize(loadMs),
    rows: [
      row('counter', 0, observed.counter),
      row('segments', switches.buffered, observed.buffered),
      row('without prefetch', switches.late, observed.late),
    ],
  };
}

export function describeSwitches({ rows, loadMs }: SwitchReport): string {
  const header = ['', 'calls', 'loads', 'p50 ms', 'p99 ms', 'p99.9 ms', 'max ms', 'due: p99.9 ms', 'max ms', 'refused'];
  const table = rows.map(({ name, calls, due, switches, refused }) => [
    name,
    whole(calls.count),
    whole(switches),
    ...[calls.p50, calls.p99, calls.p999, calls.max, due.p999, due.max].map((ms) => decimals(ms, 4)),
    whole(refused),
  ]);
  return [
    `${whole(RATE)} calls per second, segments of ${whole(STEP)}; a load took ${decimals(loadMs.min, 0)} to ${decimals(loadMs.max, 0)} ms`,
    formatTable(header, table),
    'Latency from call to result, calls per bucket:',
    formatTable(['up to ms', ...rows.map(({ name }) => name)], bucketRows(rows)),
  ].join('\n');
}

export function switchTarget({ rows }: SwitchReport): Target {
  const [, segments] = rows;
  return below(`${segments!.name}, p99.9 of a call`, segments!.calls.p999, P999_LIMIT_MS, 'ms');
}

/** Errors that never occur with a correct generator, even on a slow machine. */
export function switchFaults({ rows }: SwitchReport): string[] {
  return rows.flatMap(({ name, unordered, refused }) => [
    ...(unordered > 0 ? [`${name}: ${unordered} IDs not greater than the previous one`] : []),
    ...(refused > 0 ? [`${name}: ${refused} calls refused`] : []),
  ]);
}

function bucketRows(rows: readonly Row[]): string[][] {
  return rows[0]!.calls.buckets.map(({ upTo }, bucket) => [
    upTo === Infinity ? 'above' : String(upTo),
    ...rows.map(({ calls }) => whole(calls.buckets[bucket]!.count)),
  ]);
}

function row(name: string, switches: number, { calls, due, refused, unordered }: Observed): Row {
  return { name, switches, refused, unordered, calls: calls.figures(), due: due.figures() };
}

function stateOf(generator: SegmentIdGenerator): ReturnType<SegmentIdGenerator['snapshot']>[number] {
  return generator.snapshot()[0]!;
}
