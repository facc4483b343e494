export { Clock } from './clock/clock';
export { FakeClock } from './clock/fake-clock';
export { SystemClock } from './clock/system-clock';
export { unlessAborted, withinDeadline } from './deadline';
export { DecimalWriter } from './decimal-writer';
export { syncDirectory, writeDurably } from './durable-file';
export { ERROR_CATALOGUE, type LeafErrorCode } from './errors/error-catalogue';
export { codeOf, LeafError, messageOf, reasonOf, RETRY_AFTER_S, type LeafErrorOptions } from './errors/leaf-error';
export {
  internalError,
  type Problem,
  PROBLEM_TYPE,
  problemOf,
  type ProblemResponse,
  sendProblem,
} from './errors/problem';
export { Histogram, type HistogramBucket, type HistogramSnapshot } from './histogram';
export { DatedFormat, type DatedId } from './format/dated-format';
export type { IdFormat } from './format/id-format';
export { IdPermutation, type IdPermutationOptions } from './format/id-permutation';
export { PeriodFormat, type PeriodFormatOptions } from './format/period-format';
export { PermutedFormat } from './format/permuted-format';
export { PrefixedFormat } from './format/prefixed-format';
export { RadixFormat, type RadixFormatOptions } from './format/radix-format';
export { SnowflakeDateFormat } from './format/snowflake-date-format';
export { IdService, MAX_BATCH_SIZE, MAX_RANGE_SIZE, onlyNumber, type PeriodNumber } from './id-service';
export { isCount, isTime, parseArray, parseObject } from './json';
export { assertCount, numberFaults, refuseFaults, type NumberRule } from './options';
export { PeriodicTask, type PeriodicTaskSnapshot } from './periodic-task';
export { systemRandom, type RandomSource } from './random';
export { NO_NONCE, NONCE_HEADER, NONCE_PARAMETER, NONCE_PATTERN } from './request-nonce';
export { rendezvousScore } from './rendezvous-score';
export { ShutdownStack, type ShutdownReport } from './shutdown-stack';
export { forEachInPages } from './pages';
export { backoffMs, retry, type BackoffOptions, type RetryOptions } from './retry';
export type { BufferContext } from './segment/buffer-context';
export { CallerQueue } from './segment/caller-queue';
export { DoubleBuffer } from './segment/double-buffer';
export type { DoubleBufferSnapshot, SegmentSnapshot, TagSnapshot, TagVisit } from './segment/segment-snapshot';
export { DEFAULT_HOT_TAGS, HotTags, type HotTagsOptions } from './segment/hot-tags';
export { idsOf, MAX_ID, sizeOf, type IdRange } from './segment/id-range';
export { IdleRetries } from './segment/idle-retries';
export { LoadTotals } from './segment/load-totals';
export {
  invalidPeriod,
  type Period,
  PERIOD_BOUNDS,
  PERIOD_SHAPES,
  PeriodCalendar,
  periodOf,
  type PeriodRanges,
  periodRow,
  tagOfRow,
} from './segment/periods';
export { Segment } from './segment/segment';
export type { SegmentEvents } from './segment/segment-events';
export { SegmentIdGenerator } from './segment/segment-id-generator';
export { InterleavedBlocks, type Block } from './segment/interleaved-blocks';
export { DEFAULT_SEGMENT_OPTIONS, type SegmentOptions } from './segment/segment-options';
export {
  orRefusal,
  SegmentStore,
  type Allocation,
  type AllocationRequest,
  type TagEntry,
} from './segment/segment-store';
export { nextStep, type StepPolicyOptions } from './segment/step-policy';
export { periodicTag, unknownTag } from './segment/tag-refusals';
export { assertTag, isTag, TAG_PATTERN } from './segment/tag';
export {
  assertNewTag,
  assertTagChange,
  fitsDescription,
  MAX_DESCRIPTION,
  type TagPage,
  TagStore,
  type NewTag,
  type TagChange,
  type TagRow,
} from './segment/tag-store';
export {
  type Interleave,
  MAX_INTERLEAVE,
  MAX_STEP,
  ORDERS,
  PLAIN_TAG,
  RESETS,
  settingFault,
  tagKind,
  type TagKind,
  type TagLimits,
  type TagOrder,
  type TagReset,
} from './segment/tag-settings';
export {
  BitLayout,
  DEFAULT_EPOCH,
  DEFAULT_LAYOUT,
  defaultLayout,
  type BitLayoutOptions,
  type SnowflakeParts,
} from './snowflake/bit-layout';
export type { IssueWindow, Tenure } from './snowflake/issue-window';
export { SnowflakeGenerator } from './snowflake/snowflake-generator';
export {
  DEFAULT_SNOWFLAKE_OPTIONS,
  type SnowflakeOptions,
  type SnowflakeSnapshot,
} from './snowflake/snowflake-options';
export { checkClock, type ClockCheck, type ClockCheckOptions } from './worker/clock-check';
export {
  firstAddress,
  formatInstance,
  type HostAddresses,
  type Instance,
  isLoopback,
  processInstance,
} from './worker/instance';
export { LeaseHolder, type Wait } from './worker/lease-holder';
export { parseRegistryDocument, type RegistryDocument } from './worker/registry-document';
export { WorkerFile, type FileRecord } from './worker/worker-file';
export { WorkerLease, type WorkerLeaseEvents, type WorkerLeaseSnapshot } from './worker/worker-lease';
export {
  WorkerPolicy,
  type Choice,
  type ChoiceContext,
  type GraceOptions,
  type WorkerUsage,
} from './worker/worker-policy';
export type { WorkerRegistryOptions, WorkerRegistryParts } from './worker/registry-options';
export { WorkerRegistry } from './worker/worker-registry';
export {
  WorkerStore,
  type Peer,
  type StoredRegistry,
  type StoredWorker,
  type TimeSource,
  type WorkerRecord,
} from './worker/worker-store';
export type { WorkerClaim } from './worker/worker-claim';
