import { summarize, type Summary } from '../report/summary';
import { formatTable, whole } from '../report/table';
import type { ConnectionReport } from './connections';
import type { StartReport } from './idle';
import type { TagReport } from './tags';

/** Each list has one entry a round. */
export interface MemoryMeasured {
  /** With the defaults: a first start, and others on the same data. */
  readonly starts: readonly (readonly StartReport[])[];
  readonly zookeeper: readonly StartReport[];
  readonly mysql: readonly StartReport[];
  /** With few tags, some of them used, and with many. */
  readonly tags: readonly (readonly TagReport[])[];
  readonly connections: readonly (readonly ConnectionReport[])[];
}

interface Row {
  readonly name: string;
  readonly values: readonly number[];
  readonly unit: string;
  /** The median has to be below. */
  readonly target?: number;
}

interface Figure {
  readonly name: string;
  readonly value: number | null;
  readonly unit: string;
}

export interface Target extends Figure {
  readonly relation: '<';
  readonly target: number;
  readonly reached: boolean;
}

const BYTES_A_MIB = 2 ** 20;

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
  return rowsOf(measured).map(({ name, values, unit }) => ({ name, value: known(summarize(values)), unit }));
}

export function memoryTargets(measured: MemoryMeasured): Target[] {
  return rowsOf(measured).flatMap(({ name, values, unit, target }) => {
    const value = known(summarize(values));
    const reached = target !== undefined && value !== null && value < target;
    return target === undefined ? [] : [{ name, value, unit, relation: '<', target, reached }];
  });
}

function rowsOf({ starts, zookeeper, mysql, tags, connections }: MemoryMeasured): Row[] {
  const idle = (reports: readonly StartReport[]): number[] => reports.map(({ idleMiB }) => idleMiB);
  const warm = starts.flatMap((round) => round.slice(1));
  return [
    { name: 'idle, defaults', values: idle(warm), unit: 'MiB', target: 110 },
    { name: 'idle, registry zk_recycle', values: idle(zookeeper), unit: 'MiB' },
    { name: 'idle, registry mysql on MariaDB', values: idle(mysql), unit: 'MiB' },
    { name: 'known tag', values: tags.map(perKnownTag), unit: 'B', target: 1000 },
    { name: 'used tag, beyond a known one', values: tags.map(perUsedTag), unit: 'B' },
    {
      name: 'used tag in all',
      values: tags.map((round) => perKnownTag(round) + perUsedTag(round)),
      unit: 'B',
      target: 1000,
    },
    { name: 'idle connection', values: connections.map(perConnection), unit: 'B', target: 12_000 },
    { name: 'first start to the first ID', values: starts.map(([first]) => first?.startMs ?? NaN), unit: 'ms' },
    { name: 'start to the first ID', values: warm.map(({ startMs }) => startMs), unit: 'ms', target: 1000 },
  ];
}

/** By the difference of two servers: what they have besides their tags, garbage included, is in both. */
function perKnownTag(round: readonly TagReport[]): number {
  const [few, many] = round;
  if (few === undefined || many === undefined) return NaN;
  return ((many.knownMiB - few.knownMiB) * BYTES_A_MIB) / (many.tags - few.tags);
}

/** By the difference of two moments: as many requests for one tag have left before what requests leave. */
function perUsedTag([few]: readonly TagReport[]): number {
  if (few?.usedMiB === undefined || few.oneTagMiB === undefined) return NaN;
  return ((few.usedMiB - few.oneTagMiB) * BYTES_A_MIB) / few.used;
}

function perConnection([few, many]: readonly ConnectionReport[]): number {
  if (few === undefined || many === undefined) return NaN;
  return ((many.resident - few.resident) * BYTES_A_MIB) / (many.connections - few.connections);
}

/** JSON has no NaN. */
function known({ median }: Summary): number | null {
  return Number.isFinite(median) ? median : null;
}
