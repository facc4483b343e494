// Prints the time and memory per ID of the built core as JSON. Runs without a test runner, which would transform the
// code. Needs --expose-gc, and a young generation that holds ALLOCATED IDs. LEAF_COST_BURDEN=1.3 makes every path
// that is not a baseline do 1.3 times its work: see burden.mjs.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
const built = (file) => require(join(import.meta.dirname, '../../../dist', file));
const { BitLayout, DEFAULT_EPOCH, PLAIN_TAG, SystemClock } = built('libs/core/src/index.js');
const { SegmentIdGenerator, SnowflakeGenerator, systemRandom } = built('libs/core/src/internal.js');
const { BatchText } = built('apps/leaf-server/src/http/responses/batch-text.js');

const TAG = 'order';
const entry = { tag: TAG, kind: PLAIN_TAG };
/** IDs per round; a round is shorter than a time slice of the scheduler. */
const ROUND = 20_000;
const ROUNDS = 150;
const BATCH = 100;
const BURDEN = Number(process.env.LEAF_COST_BURDEN ?? 1);
const BASELINES = ['counter', 'clockCounter', 'numberCounter', 'rangeCounter', 'sum', 'text'];
const ALLOCATED = 500_000;
/** One segment has more IDs than all rounds take. */
const STEP = 1_000_000_000;

const clock = new SystemClock();
const ids = new Array(1024).fill(0n);
const numbers = new Array(1024).fill(0);

function segments() {
  let maxId = 1n;
  const store = {
    listTags: () => Promise.resolve([entry]),
    findTag: () => Promise.resolve(entry),
    databaseOf: () => '',
    allocate: () => {
      const from = maxId;
      maxId += BigInt(STEP);
      return Promise.resolve({ from, to: maxId - 1n, step: STEP });
    },
  };
  const options = { prefetchRatio: 0.1, waitMs: 1000, durationMs: 900_000, maxStep: STEP };
  return new SegmentIdGenerator(store, clock, systemRandom, options, { onLoadFailed() {}, onRefreshFailed() {} });
}

/** Four million IDs per millisecond, so it never waits for the next millisecond. */
function snowflakes() {
  const layout = new BitLayout({ timeBits: 40, workerBits: 1, sequenceBits: 22, epoch: DEFAULT_EPOCH });
  const never = Number.MAX_SAFE_INTEGER;
  const window = { term: { workerId: 1, floor: 0 }, ceiling: never, renewAfter: never, renew() {} };
  return new SnowflakeGenerator(layout, window, clock, systemRandom, {
    maxBackwardsMs: 5,
    waitMs: 1000,
    sequenceStart: 100,
  });
}

const segment = segments();
const snowflake = snowflakes();
const batchText = new BatchText();
await segment.next(TAG);
let count = 0;
let bigCount = 0n;
let textCount = 10n ** 18n;
let seen = 0;

/** As many objects between a name and its counter as a double buffer needs, without what makes it one. */
class NamedCounter {
  name = TAG;
  buffer = new BufferedCounter();

  tryNext(name) {
    return this.find(name)?.tryNext();
  }

  find(name) {
    return name === this.name ? this.buffer : undefined;
  }
}

class BufferedCounter {
  queue = { current: new CountedRange() };
  checkpoint = 0;

  tryNext() {
    return this.queue.current.left > this.checkpoint ? this.queue.current.take() : undefined;
  }
}

class CountedRange {
  end = STEP + 1;
  left = STEP;

  take() {
    const id = this.end - this.left;
    if (id > Number.MAX_SAFE_INTEGER) return undefined;
    this.left--;
    return id;
  }
}

const namedCounter = new NamedCounter();

/** Each function has its own loop, as the code of an application has. */
const loops = {
  counter(n) {
    for (let i = 0; i < n; i++) ids[i & 1023] = BigInt(count++);
  },
  /** V8 allocates a third more for the sum of two bigints than the bigint needs. */
  sum(n) {
    for (let i = 0; i < n; i++) ids[i & 1023] = bigCount = bigCount + 1n;
  },
  clockCounter(n) {
    for (let i = 0; i < n; i++) {
      seen += Date.now() & 1;
      ids[i & 1023] = BigInt(count++);
    }
  },
  numberCounter(n) {
    for (let i = 0; i < n; i++) numbers[i & 1023] = namedCounter.tryNext(TAG);
  },
  number(n) {
    for (let i = 0; i < n; i++) numbers[i & 1023] = segment.tryNextNumber(TAG);
  },
  rangeCounter(n) {
    for (let i = 0; i < n; i++) {
      const from = BigInt(count);
      count += 10;
      ids[i & 1023] = [{ from, to: BigInt(count) - 1n }];
    }
  },
  range(n) {
    for (let i = 0; i < n; i++) ids[i & 1023] = segment.tryRanges(TAG, 10);
  },
  segment(n) {
    for (let i = 0; i < n; i++) ids[i & 1023] = segment.tryNext(TAG);
  },
  snowflake(n) {
    for (let i = 0; i < n; i++) ids[i & 1023] = snowflake.next();
  },
  text(n) {
    for (let i = 0; i < n; i++) {
      const id = String(textCount++);
      seen += id.charCodeAt(id.length - 1);
      ids[i & 1023] = id;
    }
  },
  snowflakeText(n) {
    for (let i = 0; i < n; i++) {
      const id = snowflake.nextString();
      seen += id.charCodeAt(id.length - 1);
      ids[i & 1023] = id;
    }
  },
  batchText(n) {
    for (let i = 0; i < n; i += BATCH) {
      const ranges = segment.tryRanges(TAG, BATCH);
      const text = batchText.write('tag', TAG, ranges);
      seen += text.charCodeAt(text.length - 1);
      ids[(i / BATCH) & 1023] = text;
    }
  },
};

/** Nanoseconds per ID in the fastest of many short rounds, which nothing has disturbed. */
function times() {
  const best = {};
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, loop] of Object.entries(loops)) {
      const start = performance.now();
      loop(BASELINES.includes(name) ? ROUND : ROUND * BURDEN);
      const ns = ((performance.now() - start) / ROUND) * 1e6;
      best[name] = Math.min(best[name] ?? Infinity, ns);
    }
  }
  return best;
}

/** Heap bytes per ID: the median of the runs without a garbage collection. */
function bytes() {
  const taken = {};
  for (const name of ['sum', 'segment', 'snowflake']) {
    const runs = Array.from({ length: 20 }, () => {
      globalThis.gc();
      const before = process.memoryUsage().heapUsed;
      loops[name](BASELINES.includes(name) ? ALLOCATED : ALLOCATED * BURDEN);
      return (process.memoryUsage().heapUsed - before) / ALLOCATED;
    });
    taken[name] = runs.sort((a, b) => a - b)[10];
  }
  return taken;
}

const nanoseconds = times();
console.log(JSON.stringify({ nanoseconds, bytes: bytes(), seen }));
