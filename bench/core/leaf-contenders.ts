import { type IdRange, idsOf, LeafError, SystemClock } from '@leaf-ids/core';
import {
  defaultLayout,
  SegmentIdGenerator,
  SnowflakeGenerator,
  systemRandom,
  type IssueWindow,
} from '@leaf-ids/core/internal';
import { CHUNK, type Contender } from './contender';
import { MemorySegmentStore } from './memory-segment-store';

const TAG = 'order';
/** A power of 2. */
const TAGS_IN_TURN = ['order', 'invoice', 'payment', 'shipment'];
const SEGMENT_STEP = 1_000_000;

/** A healthy lease. */
function openWindow(workerId: number): IssueWindow {
  const never = Number.MAX_SAFE_INTEGER;
  const refusal = new LeafError('LEAF_NOT_READY', 'no worker');
  return { term: { workerId, floor: 0 }, ceiling: never, renewAfter: never, refusal, renew: () => Promise.resolve() };
}

function snowflakeGenerator(workerId: number): SnowflakeGenerator {
  const options = { maxBackwardsMs: 5, waitMs: 1000, sequenceStart: 100 };
  return new SnowflakeGenerator(defaultLayout(), openWindow(workerId), new SystemClock(), systemRandom, options);
}

function segmentGenerator(tags: readonly string[] = [TAG]): SegmentIdGenerator {
  const fail = (error: unknown): never => {
    throw error;
  };
  return new SegmentIdGenerator(
    new MemorySegmentStore(tags, SEGMENT_STEP),
    new SystemClock(),
    systemRandom,
    { prefetchRatio: 0.1, waitMs: 1000, durationMs: 900_000, maxStep: SEGMENT_STEP },
    { onLoadFailed: (_tag, error) => fail(error), onRefreshFailed: fail },
  );
}

function snowflakeBigint(): Contender {
  const generator = snowflakeGenerator(1);
  return {
    name: 'Leaf snowflake next()',
    group: 'leaf-snowflake',
    product: 'bigint',
    chunk: CHUNK,
    fill(ids, from, to) {
      for (let i = from; i < to; i++) ids[i] = generator.next();
      return to;
    },
  };
}

function snowflakeString(): Contender {
  const generator = snowflakeGenerator(2);
  let seen = 0;
  return {
    name: 'Leaf snowflake nextString()',
    group: 'leaf-snowflake',
    product: 'string, read',
    chunk: CHUNK,
    fill(ids, from, to) {
      for (let i = from; i < to; i++) {
        const id = generator.nextString();
        // V8 flattens concatenated strings when they are read, so each ID must be read.
        seen += id.charCodeAt(id.length - 1);
        ids[i] = id;
      }
      if (seen === 0) throw new Error('The contender returned only empty strings.');
      return to;
    },
  };
}

function snowflakeBatches(): Contender {
  const generator = snowflakeGenerator(3);
  const size = 1000;
  return {
    name: `Leaf snowflake take(${size})`,
    group: 'leaf-snowflake',
    product: 'bigint',
    chunk: size,
    async fill(ids, from, to) {
      const batch = await generator.take(to - from);
      for (let i = 0; i < batch.length; i++) ids[from + i] = batch[i];
      return from + batch.length;
    },
  };
}

function segmentSync(): Contender {
  const generator = segmentGenerator();
  return {
    name: `Leaf segment tryNext('${TAG}')`,
    group: 'leaf-segment',
    product: 'bigint',
    chunk: CHUNK,
    fill(ids, from, to) {
      for (let i = from; i < to; i++) {
        const id = generator.tryNext(TAG);
        // Waits for the first ID of a tag and for IDs that are not buffered, as every caller does.
        if (id === undefined) return waitForOne(generator, ids, i);
        ids[i] = id;
      }
      return to;
    },
  };
}

function segmentNumber(): Contender {
  const generator = segmentGenerator();
  return {
    name: `Leaf segment tryNextNumber('${TAG}')`,
    group: 'leaf-segment',
    product: 'number',
    chunk: CHUNK,
    key: (id) => BigInt(id as number),
    fill(ids, from, to) {
      for (let i = from; i < to; i++) {
        const id = generator.tryNextNumber(TAG);
        if (id === undefined) return waitForNumber(generator, ids, i);
        ids[i] = id;
      }
      return to;
    },
  };
}

function segmentTurns(): Contender {
  const generator = segmentGenerator(TAGS_IN_TURN);
  const last = TAGS_IN_TURN.length - 1;
  return {
    name: `Leaf segment, ${TAGS_IN_TURN.length} tags in turn, tryNext`,
    group: 'leaf-segment',
    product: 'bigint',
    chunk: CHUNK,
    fill(ids, from, to) {
      for (let i = from; i < to; i++) {
        const tag = TAGS_IN_TURN[i & last]!;
        const id = generator.tryNext(tag);
        if (id === undefined) return waitForOne(generator, ids, i, tag);
        ids[i] = id;
      }
      return to;
    },
  };
}

function segmentNumberTurns(): Contender {
  const generator = segmentGenerator(TAGS_IN_TURN);
  const last = TAGS_IN_TURN.length - 1;
  return {
    name: `Leaf segment, ${TAGS_IN_TURN.length} tags in turn, tryNextNumber`,
    group: 'leaf-segment',
    product: 'number',
    chunk: CHUNK,
    key: (id) => BigInt(id as number),
    fill(ids, from, to) {
      for (let i = from; i < to; i++) {
        const tag = TAGS_IN_TURN[i & last]!;
        const id = generator.tryNextNumber(tag);
        if (id === undefined) return waitForNumber(generator, ids, i, tag);
        ids[i] = id;
      }
      return to;
    },
  };
}

function segmentRanges(): Contender {
  const generator = segmentGenerator();
  const size = 10;
  return {
    name: `Leaf segment tryRanges('${TAG}', ${size})`,
    group: 'leaf-segment',
    product: `range of ${size}`,
    chunk: CHUNK,
    key: (ranges) => (ranges as readonly IdRange[])[0]!.from,
    async fill(ids, from, to) {
      for (let i = from; i < to; i++)
        ids[i] = generator.tryRanges(TAG, size) ?? (await generator.takeRanges(TAG, size));
      return to;
    },
  };
}

function segmentBatches(): Contender {
  const generator = segmentGenerator();
  const size = 1000;
  return {
    name: `Leaf segment takeRanges('${TAG}', ${size}), each ID`,
    group: 'leaf-segment',
    product: 'bigint',
    chunk: size,
    async fill(ids, from, to) {
      const batch = idsOf(await generator.takeRanges(TAG, to - from));
      for (let i = 0; i < batch.length; i++) ids[from + i] = batch[i];
      return from + batch.length;
    },
  };
}

function segmentString(): Contender {
  const generator = segmentGenerator();
  let seen = 0;
  return {
    name: `Leaf segment String(tryNext('${TAG}'))`,
    group: 'leaf-segment',
    product: 'string, read',
    chunk: CHUNK,
    async fill(ids, from, to) {
      for (let i = from; i < to; i++) {
        const id = String(generator.tryNext(TAG) ?? (await generator.next(TAG)));
        seen += id.charCodeAt(id.length - 1);
        ids[i] = id;
      }
      if (seen === 0) throw new Error('The contender returned only empty strings.');
      return to;
    },
  };
}

async function waitForOne(generator: SegmentIdGenerator, ids: unknown[], index: number, tag = TAG): Promise<number> {
  ids[index] = await generator.next(tag);
  return index + 1;
}

async function waitForNumber(generator: SegmentIdGenerator, ids: unknown[], index: number, tag = TAG): Promise<number> {
  ids[index] = Number(await generator.next(tag));
  return index + 1;
}

function segmentAsync(): Contender {
  const generator = segmentGenerator();
  return {
    name: `Leaf segment await next('${TAG}')`,
    group: 'leaf-segment',
    product: 'bigint',
    chunk: CHUNK,
    async fill(ids, from, to) {
      for (let i = from; i < to; i++) ids[i] = await generator.next(TAG);
      return to;
    },
  };
}

export function leafContenders(): Contender[] {
  // An older revision does not have it.
  const hasNumbers = 'tryNextNumber' in SegmentIdGenerator.prototype;
  return [
    ...[snowflakeBigint(), snowflakeString(), snowflakeBatches()],
    ...(hasNumbers ? [segmentNumber(), segmentNumberTurns()] : []),
    ...[segmentSync(), segmentTurns(), segmentString(), segmentAsync(), segmentRanges(), segmentBatches()],
  ];
}
