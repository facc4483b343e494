/** Bit layout of a snowflake ID: a sign bit that is always 0, then time, worker ID and sequence. */
export interface Layout {
  /** Unix milliseconds at which the time field is 0. */
  readonly epoch: number;
  readonly timeBits: number;
  readonly workerBits: number;
  readonly sequenceBits: number;
  /** How many of the worker bits, the upper ones, are the number of a data center; 0 if omitted. */
  readonly datacenterBits?: number;
}

/** The layout without settings. */
export const DEFAULT_LAYOUT: Layout = { epoch: 1_288_834_974_657, timeBits: 41, workerBits: 10, sequenceBits: 12 };

export interface Decoded {
  readonly id: bigint;
  /** Unix milliseconds. */
  readonly timestamp: number;
  readonly workerId: number;
  readonly sequence: number;
}

export type IdFault = 'empty' | 'notDecimal' | 'tooLarge';

/** Parses digits of any length without rounding; ignores spaces and separators. */
export function parseId(text: string): bigint | IdFault {
  const digits = text.replace(/[\s,_'"]/g, '');
  if (digits === '') return 'empty';
  if (!/^\d+$/.test(digits)) return 'notDecimal';
  const id = BigInt(digits);
  return id < 1n << 63n ? id : 'tooLarge';
}

/** The fields of an ID; undefined if it has more bits than the layout. */
export function decode(id: bigint, { epoch, timeBits, workerBits, sequenceBits }: Layout): Decoded | undefined {
  if (id >= 1n << BigInt(timeBits + workerBits + sequenceBits)) return undefined;
  const worker = BigInt.asUintN(workerBits, id >> BigInt(sequenceBits));
  return {
    id,
    timestamp: Number(id >> BigInt(workerBits + sequenceBits)) + epoch,
    workerId: Number(worker),
    sequence: Number(BigInt.asUintN(sequenceBits, id)),
  };
}

/** The data center and the machine of a worker ID; undefined if the layout does not divide it. */
export function placeOf(
  workerId: number,
  { workerBits, datacenterBits = 0 }: Layout,
): { readonly datacenter: number; readonly machine: number } | undefined {
  const machines = 2 ** (workerBits - datacenterBits);
  if (datacenterBits === 0) return undefined;
  return { datacenter: Math.floor(workerId / machines), machine: workerId % machines };
}

/** The lowest and highest ID with a time from `from` to `to`, inclusive; undefined outside the range of the layout. */
export function idsBetween(
  from: number,
  to: number,
  { epoch, timeBits, workerBits, sequenceBits }: Layout,
): { readonly lowest: bigint; readonly highest: bigint } | undefined {
  const last = epoch + 2 ** timeBits - 1;
  if (to < epoch || from > last) return undefined;
  const shift = BigInt(workerBits + sequenceBits);
  const lowest = BigInt(Math.max(from, epoch) - epoch) << shift;
  const highest = ((BigInt(Math.min(to, last) - epoch) + 1n) << shift) - 1n;
  return { lowest, highest };
}

export interface BitField {
  readonly name: 'sign' | 'time' | 'worker' | 'datacenter' | 'machine' | 'sequence';
  readonly bits: string;
}

/**
 * The 64 bits of an ID in four fields, or five with a data center. Bits that the layout does not use belong to the sign
 * field.
 */
export function bitFields(id: bigint, { timeBits, workerBits, sequenceBits, datacenterBits = 0 }: Layout): BitField[] {
  const bits = id.toString(2).padStart(64, '0');
  const time = 64 - timeBits - workerBits - sequenceBits;
  const worker = time + timeBits;
  const sequence = worker + workerBits;
  const machine = worker + datacenterBits;
  const divided: BitField[] = [
    { name: 'datacenter', bits: bits.slice(worker, machine) },
    { name: 'machine', bits: bits.slice(machine, sequence) },
  ];
  return [
    { name: 'sign', bits: bits.slice(0, time) },
    { name: 'time', bits: bits.slice(time, worker) },
    ...(datacenterBits > 0 ? divided : [{ name: 'worker' as const, bits: bits.slice(worker, sequence) }]),
    { name: 'sequence', bits: bits.slice(sequence) },
  ];
}
