import { decimals, formatTable, whole } from '../../test/support/table';
import { type Figure, figure } from '../report/targets';
import type { StoreRow } from './allocations';

export function describeStore(rows: readonly StoreRow[]): string {
  const header = ['', 'callers', 'per s', 'min..max', 'p50 ms', 'p99 ms', 'driver per s', 'p50 ms', 'p99 ms'];
  const table = rows.map(({ database, call, callers, rate, bareRate, ratio, latency, bareLatency }) => [
    `${database}: ${call}`,
    String(callers),
    whole(rate.median),
    `${whole(rate.min)}..${whole(rate.max)}`,
    decimals(latency.p50, 3),
    decimals(latency.p99, 2),
    whole(bareRate.median),
    decimals(bareLatency.p50, 3),
    decimals(bareLatency.p99, 2),
    decimals(ratio.median, 2),
    `${decimals(ratio.min, 2)}..${decimals(ratio.max, 2)}`,
  ]);
  return formatTable([...header, 'of driver', 'min..max'], table);
}

export function storeFigures(rows: readonly StoreRow[]): Figure[] {
  return rows.flatMap(({ database, call, callers, rate, ratio, latency }) => {
    const name = `${database}, ${call}, ${callers} at once`;
    return [
      figure(name, rate.median, 'calls/s'),
      figure(`${name}, of the driver`, ratio.median, 'ratio'),
      figure(`${name}, p99`, latency.p99, 'ms'),
    ];
  });
}
