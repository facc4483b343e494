import { LeafError } from '../errors/leaf-error';
import { accepted, both, object, required, type Rules, whole } from '../util/options';

/** 2010-11-04T01:42:54.657Z, the epoch of the original Snowflake and of the Java service, in Unix milliseconds. */
export const DEFAULT_EPOCH = 1_288_834_974_657;

/** A smaller one is in seconds by mistake, up to the year 3000; 0 is the epoch of Unix. */
const MIN_EPOCH = 32_503_680_000;

export interface BitLayoutOptions {
  /** Bits of the time field, in milliseconds since the epoch. */
  readonly timeBits: number;
  /** Bits of the worker ID. */
  readonly workerBits: number;
  /** Bits of the sequence within a millisecond. */
  readonly sequenceBits: number;
  /** Unix milliseconds at which the time field is 0. */
  readonly epoch: number;
  /** How many of the worker bits, the upper ones, are the number of a data center; none by default. */
  readonly datacenterBits?: number;
}

/** 41 bits of time (69 years), 10 of worker ID (1024), 12 of sequence (4096 per millisecond). */
export const DEFAULT_LAYOUT: BitLayoutOptions = {
  timeBits: 41,
  workerBits: 10,
  sequenceBits: 12,
  epoch: DEFAULT_EPOCH,
};

/** The fields of a snowflake ID. */
export interface SnowflakeParts {
  /** Unix milliseconds. */
  readonly timestamp: number;
  readonly workerId: number;
  readonly sequence: number;
  /** The upper part of the worker ID, if the layout has data center bits. */
  readonly datacenterId?: number;
  /** The lower part of the worker ID, if the layout has data center bits. */
  readonly machineId?: number;
}

/**
 * The bit layout of snowflake IDs, after Twitter's Snowflake (2010): a sign bit that is always 0, then time, worker ID
 * and sequence, from the most significant bit. The three fields have at most 63 bits in total.
 */
export class BitLayout {
  readonly timeBits: number;
  readonly workerBits: number;
  readonly sequenceBits: number;
  readonly epoch: number;
  /** How many of the worker bits are the number of a data center: 0 for none. */
  readonly datacenterBits: number;
  /** Highest worker ID. */
  readonly maxWorkerId: number;
  /** Highest sequence number of a millisecond. */
  readonly maxSequence: number;
  /** Last Unix millisecond that fits the time bits. */
  readonly maxTimestamp: number;
  /** Highest ID of the layout. */
  readonly maxId: bigint;

  private readonly timeShift: bigint;
  private readonly workerShift: bigint;

  /** @throws LeafError `LEAF_LAYOUT_INVALID` that names the field and its bounds */
  constructor({ timeBits, workerBits, sequenceBits, epoch, datacenterBits = 0 }: BitLayoutOptions) {
    assertWithin('time bits', timeBits, 31, 52);
    assertWithin('worker bits', workerBits, 1, 22);
    assertWithin('sequence bits', sequenceBits, 1, 22);
    assertWithin('data center bits', datacenterBits, 0, workerBits - 1);
    const sum = timeBits + workerBits + sequenceBits;
    if (sum > 63) throw invalid(`the bits add up to ${sum}; a positive 64-bit ID has at most 63`);
    if (!Number.isSafeInteger(epoch) || epoch < 0) {
      throw invalid(`the epoch must be a whole number of Unix milliseconds, 0 or more, not ${epoch}`);
    }
    if (epoch > 0 && epoch < MIN_EPOCH) {
      throw invalid(`the epoch ${epoch} is before 1971 and looks like seconds; in milliseconds it is ${epoch * 1000}`);
    }
    this.timeBits = timeBits;
    this.workerBits = workerBits;
    this.sequenceBits = sequenceBits;
    this.epoch = epoch;
    this.datacenterBits = datacenterBits;
    this.maxWorkerId = 2 ** workerBits - 1;
    // A shift gives V8 a small integer; `2 ** n` gives a double, which slows down every ID.
    this.maxSequence = (1 << sequenceBits) - 1;
    this.maxTimestamp = epoch + (2 ** timeBits - 1);
    if (!Number.isSafeInteger(this.maxTimestamp))
      throw invalid(`the epoch ${epoch} is too late for ${timeBits} time bits`);
    this.timeShift = BigInt(workerBits + sequenceBits);
    this.workerShift = BigInt(sequenceBits);
    this.maxId = (1n << BigInt(sum)) - 1n;
  }

  /**
   * Bits and epoch as one string. Layouts with different fingerprints can produce equal IDs. Without the data center
   * bits, which only name a part of the worker ID.
   */
  get fingerprint(): string {
    return `${this.timeBits},${this.workerBits},${this.sequenceBits}@${this.epoch}`;
  }

  /** @throws RangeError when a field does not fit the layout */
  compose({ timestamp, workerId, sequence }: SnowflakeParts): bigint {
    assertFits('timestamp', timestamp, this.epoch, this.maxTimestamp);
    assertFits('worker ID', workerId, 0, this.maxWorkerId);
    assertFits('sequence', sequence, 0, this.maxSequence);
    return (
      (BigInt(timestamp - this.epoch) << this.timeShift) | (BigInt(workerId) << this.workerShift) | BigInt(sequence)
    );
  }

  /** @throws LeafError `LEAF_ID_INVALID` when the value is not an ID of this layout */
  decompose(id: bigint): SnowflakeParts {
    if (id < 0n || id > this.maxId) {
      throw new LeafError('LEAF_ID_INVALID', `Invalid snowflake ID ${id}: use a number from 0 to ${this.maxId}.`);
    }
    const workerId = Number((id >> this.workerShift) & BigInt(this.maxWorkerId));
    return {
      timestamp: Number(id >> this.timeShift) + this.epoch,
      workerId,
      sequence: Number(id & BigInt(this.maxSequence)),
      ...(this.datacenterBits > 0 && this.placeOf(workerId)),
    };
  }

  private placeOf(workerId: number): Pick<SnowflakeParts, 'datacenterId' | 'machineId'> {
    const machines = 2 ** (this.workerBits - this.datacenterBits);
    return { datacenterId: Math.floor(workerId / machines), machineId: workerId % machines };
  }
}

/** Parses the fingerprint of a layout; undefined for any other text. */
export function parseLayout(fingerprint: string): BitLayoutOptions | undefined {
  const parts = /^(\d+),(\d+),(\d+)@(\d+)$/.exec(fingerprint);
  if (parts === null) return undefined;
  const [timeBits = 0, workerBits = 0, sequenceBits = 0, epoch = 0] = parts.slice(1).map(Number);
  return { timeBits, workerBits, sequenceBits, epoch };
}

export function defaultLayout(): BitLayout {
  return new BitLayout(DEFAULT_LAYOUT);
}

const FIELDS: Rules<BitLayoutOptions> = {
  timeBits: required(whole(1)),
  workerBits: required(whole(1)),
  sequenceBits: required(whole(1)),
  epoch: required(whole(0)),
  datacenterBits: whole(0),
};

/** Rule for an option that is a layout. */
export const layoutRule = both(
  object(FIELDS),
  accepted((options: BitLayoutOptions) => new BitLayout(options)),
);

function assertWithin(field: string, value: number, low: number, high: number): void {
  if (!Number.isInteger(value) || value < low || value > high) {
    throw invalid(`${field} must be a whole number from ${low} to ${high}, not ${value}`);
  }
}

function assertFits(field: string, value: number, low: number, high: number): void {
  if (!Number.isSafeInteger(value) || value < low || value > high) {
    throw new RangeError(`${field} ${value} does not fit the layout: use ${low} to ${high}`);
  }
}

function invalid(reason: string): LeafError {
  return new LeafError('LEAF_LAYOUT_INVALID', `Invalid bit layout: ${reason}.`);
}
