import { summarize } from '../report/summary';
import { formatTable, whole } from '../../test/support/table';
import { below, type Figure, figure, type Target } from '../report/targets';
import type { ConnectionReport } from './connections';
import type { StartReport } from './idle';
import type { TagReport } from './tags';

/** Each list has one entry per round. */
export interface MemoryMeasured {
  /** Default settings: a first start, and restarts with the same data. */
  readonly starts: readonly (readonly StartReport[])[];
  readonly zookeeper: readonly StartReport[];
  readonly mysql: readonly StartReport[];
  /** Few tags and many tags; the latter are used at the end. */
  readonly tags: readonly (readonly TagReport[])[];
  readonly connections: readonly (readonly ConnectionReport[])[];
}

interface Row {
  readonly name: string;
  readonly values: readonly number[];
  readonly unit: string;
  /** Upper limit of the median. */
  readonly target?: number;
}

const BYTES_A_MIB = 2 ** 20;
const BYTES_A_MB = 1e6;

export function describeMemory(measured: MemoryMeasured): string {
  const rows = rowsOf(measured).map(({ name, values, unit, target }) => {
    const { median, min, max } = summarize(values);
    const verdict = target === undefined ? '' : median < target ? 'reached' : 'MISSED';
    const wanted = target === undefined ? '' : `< ${whole(target)}`;
    return [name, whole(median), `${whole(min)}..${whole(max)}`, wanted, unit, verdict];
  });
  return formatTable(['built server', 'median', 'spread', 'wanted', 'unit', ''], rows);
}

export function memoryFigures(measured: MemoryMeasured): Figure[] {
  return rowsOf(measured).map(({ name, values, unit }) => figure(name, summarize(values).median, unit));
}

export function memoryTargets(measured: MemoryMeasured): Target[] {
  return rowsOf(measured).flatMap(({ name, values, unit, target }) =>
    target === undefined ? [] : [below(name, summarize(values).median, target, unit)],
  );
}

function rowsOf({ starts, zookeeper, mysql, tags, connections }: MemoryMeasured): Row[] {
  const megabytes = (mebibytes: number): number => (mebibytes * BYTES_A_MIB) / BYTES_A_MB;
  const idle = (reports: readonly StartReport[]): number[] => reports.map(({ idleMiB }) => megabytes(idleMiB));
  const warm = starts.flatMap((round) => round.slice(1));
  const rested = warm.flatMap(({ restedMiB }) => (restedMiB === undefined ? [] : [megabytes(restedMiB)]));
  const used = tags.flatMap(([, many]) => (many?.usedMiB === undefined ? [] : [many.usedMiB]));
  const count = tags[0]?.[1]?.used ?? NaN;
  return [
    { name: 'idle for 30 s, defaults', values: rested, unit: 'MB', target: 110 },
    { name: '2 s after the start, defaults', values: idle(warm), unit: 'MB' },
    { name: '2 s after the start, registry zk_recycle', values: idle(zookeeper), unit: 'MB' },
    { name: '2 s after the start, registry mysql on MariaDB', values: idle(mysql), unit: 'MB' },
    { name: 'known tag', values: tags.map(perKnownTag), unit: 'B', target: 1000 },
    { name: 'used tag, in addition to known tag', values: tags.map(perUsedTag), unit: 'B', target: 1000 },
    {
      name: 'used tag, total',
      values: tags.map((round) => perKnownTag(round) + perUsedTag(round)),
      unit: 'B',
    },
    { name: `server with ${whole(count)} used tags`, values: used.map(megabytes), unit: 'MB', target: 300 },
    { name: 'idle connection', values: connections.map(perConnection), unit: 'B', target: 12_000 },
    { name: 'first start to the first ID', values: starts.map(([first]) => first?.startMs ?? NaN), unit: 'ms' },
    { name: 'start to the first ID', values: warm.map(({ startMs }) => startMs), unit: 'ms', target: 1000 },
  ];
}

/** Difference between two servers, which cancels memory unrelated to tags, including garbage. */
function perKnownTag(round: readonly TagReport[]): number {
  const [few, many] = round;
  if (few === undefined || many === undefined) return NaN;
  return ((many.knownMiB - few.knownMiB) * BYTES_A_MIB) / (many.tags - few.tags);
}

/** Difference between two times, after the same number of requests for one tag, which cancels memory of requests. */
function perUsedTag([, many]: readonly TagReport[]): number {
  if (many?.usedMiB === undefined || many.oneTagMiB === undefined) return NaN;
  return ((many.usedMiB - many.oneTagMiB) * BYTES_A_MIB) / many.used;
}

function perConnection([few, many]: readonly ConnectionReport[]): number {
  if (few === undefined || many === undefined) return NaN;
  return ((many.resident - few.resident) * BYTES_A_MIB) / (many.connections - few.connections);
}
