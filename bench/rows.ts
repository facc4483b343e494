import { inTurn } from './harness';
import type { LoadGenerator } from './http/load-generator';
import type { ServerProcess } from './http/server-process';
import { type Figure, figure, ratios, summarize, summarizeKnown, type Summary } from './report/figures';
import { decimals, formatTable, spread, whole } from './report/table';

/** The IDs of one run. */
export interface Issued {
  readonly ids: number;
  readonly seconds: number;
}

/** A way to get IDs from a server. */
export interface Row {
  readonly name: string;
  /** Name of the row to which the ratios refer. */
  readonly beside?: string;
  /** Undefined if its CPU time is not measured. */
  readonly server?: ServerProcess;
  run(seconds: number): Promise<Issued>;
}

/** IDs of a closed loop over HTTP, one per request. */
export function overHttp(generator: LoadGenerator, url: string, connections: number): Row['run'] {
  return async (seconds) => {
    const load = await generator.run(url, Math.ceil(seconds), connections);
    if (load.failures > 0) throw new Error(`${url}: ${load.failures} requests failed`);
    return { ids: load.requests, seconds: load.seconds };
  };
}

interface Rates {
  readonly rate: number;
  /** IDs per second of CPU time of the server, which depends less on other work on the machine; NaN if unknown. */
  readonly perCpu: number;
}

export interface MeasuredRow {
  readonly name: string;
  readonly beside: string | undefined;
  readonly rounds: readonly Rates[];
  /** IDs per second. */
  readonly rate: Summary;
  readonly perCpu: Summary | undefined;
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
      ratio: ratioOf('rate'),
      cpuRatio: ratioOf('perCpu'),
    };
  });
}

async function measureRow(row: Row, seconds: number): Promise<Rates> {
  const before = row.server?.cpuSeconds() ?? NaN;
  const issued = await row.run(seconds);
  const cpuSeconds = (row.server?.cpuSeconds() ?? NaN) - before;
  return { rate: issued.ids / issued.seconds, perCpu: issued.ids / cpuSeconds };
}

export function describeRows(rows: readonly MeasuredRow[]): string {
  const table = rows.map(({ name, beside = '', rate, perCpu, ratio }) => [
    name,
    ...spread(rate),
    whole(perCpu?.median),
    ratio === undefined ? '' : `${decimals(ratio.median, 3)} of ${beside}`,
  ]);
  return formatTable(['', 'IDs/s', 'min..max', 'per CPU s', 'ratio, median of the rounds'], table);
}

export function rowFigures(rows: readonly MeasuredRow[]): Figure[] {
  return rows.flatMap(({ name, beside = '', rate, ratio }) => [
    figure(name, rate.median, 'IDs/s'),
    ...(ratio === undefined ? [] : [figure(`${name}, of ${beside}`, ratio.median, 'ratio')]),
  ]);
}
