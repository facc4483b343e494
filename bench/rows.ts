import { inTurn } from './harness';
import type { LoadGenerator } from './http/load-generator';
import { requestIds } from './http/request';
import type { ServerProcess } from './http/server-process';
import { type Figure, figure, ratios, summarize, summarizeKnown, type Summary } from './report/figures';
import { decimals, formatTable, spread, whole } from './report/table';

/** The IDs of one run. */
export interface Issued {
  readonly ids: number;
  readonly seconds: number;
  /** Latencies of this load, if measured. */
  readonly p50Ms?: number | undefined;
  readonly p99Ms?: number | undefined;
}

/** A way to get IDs from a server. */
export interface Row {
  readonly name: string;
  /** Name of the row to which the ratios refer. */
  readonly beside?: string;
  /** Undefined if its CPU time is not measured. */
  readonly server?: Pick<ServerProcess, 'cpuSeconds'>;
  run(seconds: number): Promise<Issued>;
}

type RowPart = Pick<Row, 'server' | 'run'>;

/** IDs of a closed loop over HTTP, one per request. */
export function overHttp(generator: LoadGenerator, server: ServerProcess, path: string, connections: number): RowPart {
  const run: Row['run'] = async (seconds) => {
    await requestIds(server.port, path, 1);
    const load = await generator.run(`http://127.0.0.1:${server.port}${path}`, Math.ceil(seconds), connections);
    if (load.failures > 0) throw new Error(`${path}: ${load.failures} requests failed`);
    return { ...load, ids: load.requests };
  };
  return { server, run };
}

interface Rates {
  readonly rate: number;
  /** IDs per second of CPU time of the server, which depends less on other work on the machine; NaN if unknown. */
  readonly perCpu: number;
  /** NaN if not measured. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface MeasuredRow extends Readonly<Record<'perCpu' | 'p50Ms' | 'p99Ms', Summary | undefined>> {
  readonly name: string;
  readonly beside: string | undefined;
  readonly rounds: readonly Rates[];
  /** IDs per second. */
  readonly rate: Summary;
  /** Ratios to the other row in the same round. */
  readonly ratio: Summary | undefined;
  readonly cpuRatio: Summary | undefined;
}

/** Runs all rows in each round, after a warm-up. */
export async function measureRows(
  rows: readonly Row[],
  plan: { readonly rounds: number; readonly seconds: number },
): Promise<MeasuredRow[]> {
  for (const row of rows) await row.run(plan.seconds / 2);
  const measured = await inTurn(rows, plan.rounds, (row) => measureRow(row, plan.seconds));
  return rows.map((row) => {
    const { name, beside } = row;
    const other = rows.find((each) => each.name === beside);
    const valuesOf = (each: Row, of: keyof Rates): number[] => (measured.get(each) ?? []).map((rates) => rates[of]);
    const ratioOf = (of: keyof Rates): Summary | undefined =>
      other && summarizeKnown(ratios(valuesOf(row, of), valuesOf(other, of)));
    return {
      ...{ name, beside, rounds: measured.get(row) ?? [] },
      rate: summarize(valuesOf(row, 'rate')),
      perCpu: summarizeKnown(valuesOf(row, 'perCpu')),
      p50Ms: summarizeKnown(valuesOf(row, 'p50Ms')),
      p99Ms: summarizeKnown(valuesOf(row, 'p99Ms')),
      ratio: ratioOf('rate'),
      cpuRatio: ratioOf('perCpu'),
    };
  });
}

async function measureRow(row: Row, seconds: number): Promise<Rates> {
  const before = row.server?.cpuSeconds() ?? NaN;
  const { ids, seconds: taken, p50Ms = NaN, p99Ms = NaN } = await row.run(seconds);
  const cpuSeconds = (row.server?.cpuSeconds() ?? NaN) - before;
  return { rate: ids / taken, perCpu: ids / cpuSeconds, p50Ms, p99Ms };
}

export function describeRows(rows: readonly MeasuredRow[]): string {
  const header = ['', 'IDs/s', 'min..max', 'per CPU s', 'p50 ms', 'p99 ms', 'IDs/s, ratio', 'per CPU s, ratio', 'to'];
  const table = rows.map(({ name, beside = '', rate, perCpu, p50Ms, p99Ms, ratio, cpuRatio }) => [
    ...[name, ...spread(rate), whole(perCpu?.median), decimals(p50Ms?.median, 2), decimals(p99Ms?.median, 2)],
    ...[decimals(ratio?.median, 3), decimals(cpuRatio?.median, 3), beside],
  ]);
  return formatTable(header, table);
}

export function rowFigures(rows: readonly MeasuredRow[]): Figure[] {
  return rows.flatMap(({ name, beside = '', rate, ratio, cpuRatio }) => [
    figure(name, rate.median, 'IDs/s'),
    ...(ratio === undefined ? [] : [figure(`${name}, of ${beside}`, ratio.median, 'ratio')]),
    ...(cpuRatio === undefined ? [] : [figure(`${name}, of ${beside} per CPU s`, cpuRatio.median, 'ratio')]),
  ]);
}
