import { type IdRange, idsOf, LeafError, SystemClock } from '@leaf-ids/core';
import * as internal from '@leaf-ids/core/internal';
import {
  defaultLayout,
  SegmentIdGenerator,
  SnowflakeGenerator,
  systemRandom,
  type IssueWindow,
} from '@leaf-ids/core/internal';
import { type Contender, contender, read, wait } from './contender';
import { MemorySegmentStore } from './memory-segment-store';

const TAG = 'order';
/** A power of 2. */
const TAGS_IN_TURN = ['order', 'invoice', 'payment', 'shipment'];
const SEGMENT_STEP = 1_000_000;
const BATCH = 1000;
const SNOWFLAKE = 'leaf-snowflake';
const SEGMENT = 'leaf-segment';

/** A healthy lease. */
function openWindow(workerId: number): IssueWindow & { tenure: object } {
  const [never, term] = [Number.MAX_SAFE_INTEGER, { workerId, floor: 0 }];
  const refusal = new LeafError('LEAF_NOT_READY', 'no worker');
  // Earlier revisions call the term `tenure`.
  return { term, tenure: term, ceiling: never, renewAfter: never, refusal, renew: () => Promise.resolve() };
}

function snowflakeGenerator(workerId: number, layout = defaultLayout(), clock = new SystemClock()): SnowflakeGenerator {
  const options = { maxBackwardsMs: 5, waitMs: 1000, sequenceStart: 100 };
  return new SnowflakeGenerator(layout, openWindow(workerId), clock, systemRandom, options);
}

/** A clock that shows another millisecond at each look. */
class FastClock extends SystemClock {
  private time = super.now();

  override now(): number {
    return ++this.time;
  }
}

/** One ID of each millisecond: what a step log costs, which records milliseconds. */
function stepLogs(): Contender[] {
  const generator = snowflakeGenerator(1, defaultLayout(), new FastClock());
  const without = contender(SNOWFLAKE, 'Leaf snowflake next(), one a millisecond', 'bigint', (ids, from, to) => {
    for (let i = from; i < to; i++) ids[i] = generator.next();
    return to;
  });
  // Earlier revisions have no step log.
  if (!('StepLog' in internal)) return [without];
  const log = new internal.StepLog(new SystemClock(), { order: () => 0, write: () => undefined });
  const layout = new internal.LoggedLayout(defaultLayout(), log);
  const logged = snowflakeGenerator(1, layout, new FastClock());
  return [
    without,
    contender(SNOWFLAKE, 'Leaf snowflake next(), one a millisecond, with a step log', 'bigint', (ids, from, to) => {
      for (let i = from; i < to; i++) ids[i] = logged.next();
      return to;
    }),
  ];
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

function snowflakes(): Contender[] {
  const [bigints, texts, batches] = [snowflakeGenerator(1), snowflakeGenerator(2), snowflakeGenerator(3)];
  return [
    contender(SNOWFLAKE, 'Leaf snowflake next()', 'bigint', (ids, from, to) => {
      for (let i = from; i < to; i++) ids[i] = bigints.next();
      return to;
    }),
    contender(SNOWFLAKE, 'Leaf snowflake nextString()', 'string, read', (ids, from, to) => {
      for (let i = from; i < to; i++) ids[i] = read(texts.nextString());
      return to;
    }),
    {
      ...contender(SNOWFLAKE, `Leaf snowflake take(${BATCH})`, 'bigint', async (ids, from, to) => {
        const batch = await batches.take(to - from);
        for (let i = 0; i < batch.length; i++) ids[from + i] = batch[i];
        return from + batch.length;
      }),
      chunk: BATCH,
    },
  ];
}

/** Synchronous calls of one tag. */
function segmentOfOneTag(): Contender[] {
  const [bigints, numbers] = [segmentGenerator(), segmentGenerator()];
  return [
    contender(SEGMENT, `Leaf segment tryNext('${TAG}')`, 'bigint', (ids, from, to) => {
      for (let i = from; i < to; i++) {
        const id = bigints.tryNext(TAG);
        if (id === undefined) return wait(ids, i, bigints.next(TAG));
        ids[i] = id;
      }
      return to;
    }),
    contender(SEGMENT, `Leaf segment tryNextNumber('${TAG}')`, 'number', (ids, from, to) => {
      for (let i = from; i < to; i++) {
        const id = numbers.tryNextNumber(TAG);
        if (id === undefined) return wait(ids, i, numbers.next(TAG).then(Number));
        ids[i] = id;
      }
      return to;
    }),
  ];
}

/** The same of several tags in turn. */
function segmentOfTags(): Contender[] {
  const [bigints, numbers] = [segmentGenerator(TAGS_IN_TURN), segmentGenerator(TAGS_IN_TURN)];
  const last = TAGS_IN_TURN.length - 1;
  const name = `Leaf segment, ${TAGS_IN_TURN.length} tags in turn`;
  return [
    contender(SEGMENT, `${name}, tryNext`, 'bigint', (ids, from, to) => {
      for (let i = from; i < to; i++) {
        const tag = TAGS_IN_TURN[i & last]!;
        const id = bigints.tryNext(tag);
        if (id === undefined) return wait(ids, i, bigints.next(tag));
        ids[i] = id;
      }
      return to;
    }),
    contender(SEGMENT, `${name}, tryNextNumber`, 'number', (ids, from, to) => {
      for (let i = from; i < to; i++) {
        const tag = TAGS_IN_TURN[i & last]!;
        const id = numbers.tryNextNumber(tag);
        if (id === undefined) return wait(ids, i, numbers.next(tag).then(Number));
        ids[i] = id;
      }
      return to;
    }),
  ];
}

/** Calls that wait, text and ranges. */
function segmentOthers(): Contender[] {
  const [texts, awaited] = [segmentGenerator(), segmentGenerator()];
  const [ranges, batches] = [segmentGenerator(), segmentGenerator()];
  const size = 10;
  return [
    contender(SEGMENT, `Leaf segment String(tryNext('${TAG}'))`, 'string, read', async (ids, from, to) => {
      for (let i = from; i < to; i++) ids[i] = read(String(texts.tryNext(TAG) ?? (await texts.next(TAG))));
      return to;
    }),
    contender(SEGMENT, `Leaf segment await next('${TAG}')`, 'bigint', async (ids, from, to) => {
      for (let i = from; i < to; i++) ids[i] = await awaited.next(TAG);
      return to;
    }),
    {
      ...contender(SEGMENT, `Leaf segment tryRanges('${TAG}', ${size})`, `range of ${size}`, async (ids, from, to) => {
        for (let i = from; i < to; i++) ids[i] = ranges.tryRanges(TAG, size) ?? (await ranges.takeRanges(TAG, size));
        return to;
      }),
      key: (taken) => (taken as readonly IdRange[])[0]!.from,
    },
    {
      ...contender(SEGMENT, `Leaf segment takeRanges('${TAG}', ${BATCH}), each ID`, 'bigint', async (ids, from, to) => {
        const batch = idsOf(await batches.takeRanges(TAG, to - from));
        for (let i = 0; i < batch.length; i++) ids[from + i] = batch[i];
        return from + batch.length;
      }),
      chunk: BATCH,
    },
  ];
}

export function leafContenders(): Contender[] {
  return [...snowflakes(), ...stepLogs(), ...segmentOfOneTag(), ...segmentOfTags(), ...segmentOthers()];
}
