export { unlessAborted, withinDeadline } from './deadline';
export { DecimalWriter } from './decimal-writer';
export { syncDirectory, writeDurably } from './durable-file';
export { codeOf, hasCode, messageOf, reasonOf, RETRY_AFTER_S } from './errors/leaf-error';
export {
  internalError,
  isErrorCode,
  parseProblem,
  type Problem,
  PROBLEM_TYPE,
  problemOf,
  type ProblemResponse,
  sendProblem,
} from './errors/problem';
export { Histogram } from './histogram';
export {
  HttpEndpoint,
  type HttpEndpointOptions,
  type HttpReply,
  type HttpRequest,
  type TlsCertificates,
} from './http/http-endpoint';
export { isServerUrl } from './http/server-url';
export { onlyNumber } from './id-service';
export { formatTime, isCount, isTime, parseArray, parseObject } from './json';
export { nearestName } from './nearest-name';
export {
  accepted,
  anyText,
  assertCount,
  assertOptions,
  bigint,
  both,
  callback,
  exactlyOne,
  flag,
  having,
  list,
  milliseconds,
  object,
  oneOf,
  record,
  refuseFaults,
  required,
  rule,
  type Rule,
  type Rules,
  text,
  textOr,
  whole,
  withDefaults,
} from './options';
export { forEachParallel } from './parallel';
export { PeriodicTask } from './periodic-task';
export { systemRandom } from './random';
export { NO_NONCE, NONCE_HEADER, NONCE_PARAMETER, NONCE_PATTERN } from './request-nonce';
export { rendezvousScore } from './rendezvous-score';
export { ShutdownStack, type ShutdownReport } from './shutdown-stack';
export { packageVersion } from './package-version';
export { forEachInPages } from './pages';
export { backoffMs, retry, type BackoffOptions } from './retry';
export type { BufferContext } from './segment/buffer-context';
export { CallerQueue } from './segment/caller-queue';
export { DoubleBuffer } from './segment/double-buffer';
export type { DoubleBufferSnapshot, SegmentSnapshot, TagSnapshot, TagVisit } from './segment/segment-snapshot';
export { DEFAULT_HOT_TAGS, HotTags } from './segment/hot-tags';
export { IdleRetries } from './segment/idle-retries';
export { LoadTotals } from './segment/load-totals';
export { table } from './text-table';
export { visible, visibleLines } from './visible-text';
export { invalidPeriod, PERIOD_BOUNDS, PERIOD_SHAPES, PeriodCalendar, periodOf } from './segment/periods';
export { Segment } from './segment/segment';
export { SegmentIdGenerator } from './segment/segment-id-generator';
export { InterleavedBlocks, type Block } from './segment/interleaved-blocks';
export { DEFAULT_SEGMENT_OPTIONS, SEGMENT_RULES, type SegmentOptions } from './segment/segment-options';
export { MAX_BLOCKS, orRefusal, TagExhaustedError } from './segment/segment-store';
export { UsedSources } from './segment/used-sources';
export { nextStep } from './segment/step-policy';
export { type Survey, usedOnly } from './segment/survey';
export { periodicTag, unknownTag } from './segment/tag-refusals';
export { assertTag, isTag, MAX_TAG, TAG_PATTERN, TAG_RULE, tagRule } from './segment/tag';
export { MAX_TAGS_PER_PAGE, type TagView, viewOfTag } from './segment/tag-view';
export {
  type DeclaredTag,
  DEFAULT_STEP,
  fitsDescription,
  MAX_DESCRIPTION,
  newTagOf,
  newTagRule,
} from './segment/tag-store';
export { MAX_INTERLEAVE, MAX_STEP, ORDERS, RESETS, tagKind } from './segment/tag-settings';
export { defaultLayout, layoutRule, parseLayout } from './snowflake/bit-layout';
export type { IssueWindow, Term } from './snowflake/issue-window';
export { SnowflakeGenerator } from './snowflake/snowflake-generator';
export {
  DEFAULT_SNOWFLAKE_OPTIONS,
  SNOWFLAKE_RULES,
  type SnowflakeOptions,
  type SnowflakeSnapshot,
} from './snowflake/snowflake-options';
export {
  firstAddress,
  type HostAddresses,
  INSTANCE_RULES,
  isLoopback,
  processInstance,
  serverInstance,
} from './worker/instance';
export { LeaseHolder } from './worker/lease-holder';
export { WorkerFile, type FileRecord } from './worker/worker-file';
export { WorkerLease, type WorkerLeaseEvents, type WorkerLeaseSnapshot } from './worker/worker-lease';
export { WorkerPolicy, type Choice, type ChoiceContext, type GraceOptions } from './worker/worker-policy';
export {
  LEASE_LIMITS,
  LEASE_RULES,
  leaseFaults,
  type LeaseLimits,
  limitFaults,
  type WorkerRegistryOptions,
} from './worker/registry-options';
export { holdersOf, mayBeUsed } from './worker/record-holders';
export { workerStoreRule } from './worker/worker-store';
export type { WorkerClaim } from './worker/worker-claim';
export { windowOf } from './worker/window-holder';
export { HOLDER_PATTERN, WINDOW_MS, type WorkerWindow, WorkerWindows } from './worker/worker-windows';
