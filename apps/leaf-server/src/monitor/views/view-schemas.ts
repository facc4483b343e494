import { arrayOf, number, object, orNull, type Schema, text, truth, wholeNumber } from '../../openapi/schema';
import { TAG } from '../../openapi/shared-schemas';
import type {
  HistoryView,
  LatencyView,
  LoadView,
  OverviewView,
  PartView,
  PeerView,
  ProcessView,
  SegmentsView,
  SegmentView,
  SnowflakeView,
  TagView,
  WorkerView,
} from './views';

const NOW = wholeNumber('When this was seen, in Unix milliseconds.', 1_795_262_400_000);
const INSTANCE = text('`ip:port` by which the other servers know this one.', '10.0.0.7:8080');
/** Like an ID, and up to one past the highest of them. */
const NEXT_ID: Schema = { type: 'string', pattern: '^[0-9]{1,19}$', example: '1201' };

const PART = object<PartView>('MonitorPart', {
  name: { type: 'string', enum: ['segment', 'snowflake', 'database', 'registry', 'clock', 'drain'] },
  status: { type: 'string', enum: ['up', 'degraded', 'down', 'off'] },
  description: text('What it is, without secrets.', '1 tag'),
  reason: orNull(text('Why it is not up.')),
});

const LATENCY = object<LatencyView>('MonitorLatency', {
  p50: number('Half of the requests took no longer.', 0.08),
  p99: number('Of 100 requests 99 took no longer.', 0.9),
  p999: number('Of 1000 requests 999 took no longer.', 4.2),
});

const RATES: Schema = arrayOf({ type: 'number', example: 1250.4 });
const HISTORY = object<HistoryView>('MonitorHistory', {
  stepMs: wholeNumber('How long a step is.', 5000),
  endsAt: wholeNumber('When the last step ended, in Unix milliseconds.', 1_795_262_400_000),
  segment: { ...RATES, description: 'Segment IDs per second, a step each, the oldest first.' },
  snowflake: { ...RATES, description: 'Snowflake IDs per second.' },
  errors: { ...RATES, description: 'Answers with a status of 400 or above, per second.' },
});

const ISSUED = object<OverviewView['issued']>('MonitorIssued', {
  segment: wholeNumber('Segment IDs since the start.', 120_000),
  snowflake: wholeNumber('Snowflake IDs since the start.', 45_000),
});
const RATE = object<OverviewView['rate']>('MonitorRate', {
  segment: number('Segment IDs per second, of the last seconds.', 1250.4),
  snowflake: number('Snowflake IDs per second, of the last seconds.', 310.2),
});

const PROCESS = object<ProcessView>('MonitorProcess', {
  process: wholeNumber('From 0.', 0),
  ready: truth('Whether it takes requests.'),
  reason: orNull(text('Why nothing, or not all, is known of it.')),
  startedAt: orNull(wholeNumber('Unix milliseconds; null when it does not answer.', 1_795_258_800_000)),
  workerId: orNull(wholeNumber('Null with snowflake mode off, too.', 1)),
  issued: orNull({ ...ISSUED, title: 'MonitorProcessIssued' }),
  rate: orNull({ ...RATE, title: 'MonitorProcessRate' }),
});

export const OVERVIEW = object<OverviewView>('MonitorOverview', {
  name: text('`LEAF_NAME`.', 'leaf'),
  version: text('Of this server.', '0.1.0'),
  instance: INSTANCE,
  now: NOW,
  startedAt: wholeNumber('Unix milliseconds.', 1_795_258_800_000),
  ready: truth('What `/health/ready` says.'),
  parts: { ...arrayOf(PART), description: 'What this server stands on and is made of.' },
  issued: ISSUED,
  rate: RATE,
  errorRate: number('Answers with a status of 400 or above per second, of the last seconds.', 0),
  latencyMs: { ...orNull(LATENCY), description: 'Of the last minute, in milliseconds; null without a request.' },
  history: { ...HISTORY, description: 'The last 15 minutes.' },
  processes: { ...arrayOf(PROCESS), description: 'The processes of this server; all above is of them together.' },
});

const SEGMENT = object<SegmentView>('MonitorSegment', {
  value: { ...NEXT_ID, description: 'The next ID of it.' },
  max: { ...NEXT_ID, description: 'One past its last ID.', example: '2001' },
  step: wholeNumber('Its size.', 1000),
});
const LOAD = object<LoadView>('MonitorLoad', {
  at: orNull(wholeNumber('When the last segment came, in Unix milliseconds.', 1_795_262_390_000)),
  ms: orNull(number('How long the database took for it.', 1.84)),
  error: orNull(text('Why the newest load failed.')),
});
const TAG_VIEW = object<TagView>('MonitorTag', {
  tag: TAG,
  strict: truth('Its IDs ascend over all servers; it has no segments.'),
  initialized: truth('A segment was loaded.'),
  nextReady: truth('The next segment is there.'),
  loading: truth('One is on its way.'),
  paused: truth('On this server.'),
  period: orNull(text('Of a tag that begins anew: the newest period in use, whose segments are shown.', '2026-11')),
  position: orNull({ ...NEXT_ID, description: 'The next ID; null before the first segment.' }),
  segments: { ...arrayOf(orNull(SEGMENT)), description: 'Two: the one in use and the next one.' },
  step: wholeNumber('Size of the newest load; 0 before the first.', 1000),
  databaseStep: wholeNumber('Step of the row as last seen.', 1000),
  issued: wholeNumber('IDs since this server knows the tag.', 1200),
  buffered: wholeNumber('IDs at hand without the database.', 800),
  rate: number('IDs per second, of the last minute.', 20.5),
  lastsMs: orNull(wholeNumber('How long `buffered` lasts at that rate; null when idle.', 39_024)),
  loads: wholeNumber('Segments loaded.', 2),
  failures: wholeNumber('Loads that failed.', 0),
  lastLoad: LOAD,
});

export const SEGMENTS = object<SegmentsView>('MonitorSegments', {
  enabled: truth('Whether segment mode is on.'),
  now: NOW,
  prefetchRatio: number('Share of a segment that is used when the next one is fetched.', 0.1),
  tags: arrayOf(TAG_VIEW),
});

const PEER = object<PeerView>('MonitorPeer', {
  instance: text('`ip:port`.', '10.0.0.8:8080'),
  workerId: orNull(wholeNumber('Null when the registry does not tell.', 2)),
});
const REPORT = object<WorkerView['report']>('MonitorReport', {
  at: orNull(wholeNumber('When the registry last recorded a ceiling, in Unix milliseconds.', 1_795_262_398_000)),
  failures: wholeNumber('Reports that failed.', 0),
  error: orNull(text('Why the newest report failed.')),
});
const CLOCK = object<WorkerView['clock']>('MonitorClock', {
  offsetMs: orNull(number('Against those of the others, at the start; null when there were none.', 3.2)),
  backwardsSteps: wholeNumber('Steps backwards since the start.', 0),
});
const LAYOUT = object<WorkerView['layout']>('MonitorLayout', {
  epoch: wholeNumber('Where its time begins, in Unix milliseconds.', 1_288_834_974_657),
  timeBits: wholeNumber('Bits of the time.', 41),
  workerBits: wholeNumber('Bits of the worker ID.', 10),
  sequenceBits: wholeNumber('Bits of the sequence.', 12),
  endsAt: wholeNumber('The last millisecond that it can express.', 3_487_858_230_208),
});
const WORKER = object<WorkerView>('MonitorWorker', {
  registry: text('Who gave the worker ID.', 'mysql'),
  workerId: orNull(wholeNumber('Part of every ID of this server; null while it has none.', 1)),
  maxWorkerId: wholeNumber('The highest that there is.', 1023),
  instance: INSTANCE,
  floor: wholeNumber('No ID carries a time at or below it.', 1_795_258_799_000),
  ceiling: wholeNumber('No ID carries a time above it.', 1_795_262_408_000),
  horizonMs: wholeNumber('How far ahead time is reserved.', 10_000),
  lost: orNull(text('Why the worker ID is not this server’s any more.')),
  trouble: orNull(text('Why the server runs from its worker file; null while the registry is reached.')),
  report: REPORT,
  clock: CLOCK,
  issued: wholeNumber('IDs since the start.', 45_000),
  layout: LAYOUT,
  peers: { ...arrayOf(PEER), description: 'All servers of the registry.' },
});
const REFUSAL = object<NonNullable<SnowflakeView['refusal']>>('MonitorRefusal', {
  code: text('As of a problem.', 'LEAF_CLOCK_BACKWARDS'),
  detail: text('What happened, and what to do.'),
});

export const SNOWFLAKE = object<SnowflakeView>('MonitorSnowflake', {
  enabled: truth('Whether snowflake mode is on.'),
  now: NOW,
  worker: { ...orNull(WORKER), description: 'Null while the mode is off.' },
  workers: {
    ...arrayOf({ ...WORKER, title: 'MonitorProcessWorker' }),
    description: 'That of each process; the first of them is `worker`.',
  },
  refusal: { ...orNull(REFUSAL), description: 'Why no ID can be issued now; null when one can.' },
});

/** What a reader of the stream gets in a round. */
export const EVENTS = text(
  'Events with a name and a line of JSON.',
  ['overview', 'segments', 'snowflake'].map((name) => `event: ${name}\ndata: {…}`).join('\n\n'),
);
