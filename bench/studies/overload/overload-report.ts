import { decimals, formatTable, percent, whole } from '../../report/table';
import { atLeast, below, type Target } from '../../report/targets';
import type { OverloadResult } from './overload-run';
import { LATENCY_LIMIT_MS } from './phase-record';

const GOODPUT_SHARE = 0.8;
const RECOVERY_MS = 2000;

export function describeOverload(results: readonly OverloadResult[]): string {
  const header = [
    '',
    'peak/s',
    'offered/s',
    'sent/s',
    'good/s',
    'of peak',
    'p50 ms',
    'p99 ms',
    'refused/s',
    'CPU',
    'lost',
    'recovered ms',
    'MiB before',
    'highest',
    'probes',
  ];
  const rows = results.map(({ name, peak, overload, after, serverCpu, memory, probes }) => {
    const { seconds, offered, unsent, ok, refused, failed, p50Ms, p99Ms } = overload;
    return [
      name,
      whole(peak),
      whole(offered / seconds),
      whole((offered - unsent) / seconds),
      whole(ok / seconds),
      percent(ok / seconds / peak),
      decimals(p50Ms, 1),
      decimals(p99Ms, 1),
      whole(refused / seconds),
      percent(serverCpu ?? NaN),
      whole(failed),
      whole(after.calmFromMs),
      decimals(memory.before, 0),
      decimals(memory.highest, 0),
      `${probes.answered} of ${probes.made}`,
    ];
  });
  const probes = results.map(
    ({ name, probes: { slowestMs } }) => `${name}: slowest probe ${decimals(slowestMs, 0)} ms`,
  );
  return [formatTable(header, rows), ...probes].join('\n');
}

/** Goodput and latency during the overload, and the recovery time. */
export function overloadTargets(results: readonly OverloadResult[]): Target[] {
  return results.flatMap(({ name, peak, overload: { ok, seconds, p99Ms }, after }) => [
    atLeast(`${name}, goodput of the peak`, ok / seconds / peak, GOODPUT_SHARE, 'ratio'),
    below(`${name}, p99`, p99Ms, LATENCY_LIMIT_MS, 'ms'),
    below(`${name}, recovered`, after.calmFromMs, RECOVERY_MS, 'ms'),
  ]);
}
