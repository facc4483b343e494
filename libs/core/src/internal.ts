export { unlessAborted, withinDeadline } from './util/deadline';
export { DecimalWriter } from './util/decimal-writer';
export { syncDirectory, writeDurably } from './util/durable-file';
export { codeOf, messageOf, reasonOf, RETRY_AFTER_S } from './errors/leaf-error';
export {
  internalError,
  isErrorCode,
  parseProblem,
  type Problem,
  PROBLEM_TYPE,
  problemOf,
  type ProblemResponse,
  sendProblem,
} from './http/problem';
export { Histogram } from './util/histogram';
export {
  HttpEndpoint,
  type HttpEndpointOptions,
  type HttpReply,
  type HttpRequest,
  type TlsCertificates,
  isServerUrl,
} from './http/http-endpoint';
export { onlyNumber } from './service/id-service';
export { formatTime, isCount, isTime, parseArray, parseObject } from './util/json';
export {
  accepted,
  anyText,
  assertCount,
  assertOptions,
  bigint,
  both,
  callback,
  exactlyOne,
  type Fault,
  flag,
  having,
  InvalidValueError,
  list,
  milliseconds,
  object,
  oneOf,
  pathOf,
  record,
  refuseFaults,
  required,
  rule,
  type Rule,
  type Rules,
  text,
  textOr,
  that,
  whole,
  withDefaults,
  nearestName,
} from './util/options';
export { forEachParallel, forEachInPages } from './util/for-each';
export { PeriodicTask, Ticker } from './util/periodic-task';
export { systemRandom } from './util/random';
export { parseRfc3339 } from './util/rfc3339';
export { NO_NONCE, NONCE_HEADER, NONCE_PARAMETER, NONCE_PATTERN } from './util/request-nonce';
export { rendezvousScore } from './util/rendezvous-score';
export { Semaphore } from './util/semaphore';
export { ShutdownStack, type ShutdownReport } from './util/shutdown-stack';
export { packageVersion } from './util/package-version';
export { backoffMs, retry, type BackoffOptions, RecentRefusal } from './util/retry';
export type { BufferContext } from './segment/allocation/buffer-context';
export { type Batch, CallerQueue } from './segment/buffer/caller-queue';
export { PacedSender } from './segment/buffer/paced-sender';
export { OverlappingRanges, type SentAllocation } from './segment/allocation/overlapping-ranges';
export { DoubleBuffer } from './segment/buffer/double-buffer';
export { MAX_PATTERN } from './format/period-pattern';
export { DEFAULT_HOT_TAGS, HotTags } from './segment/directory/hot-tags';
export { IdleRetries } from './segment/allocation/buffer-context';
export { LoadTotals } from './segment/allocation/range-source';
export { table } from './util/visible-text';
export { visible, visibleLines } from './util/visible-text';
export { calendarOf, invalidPeriod, PERIOD_PATTERN, PeriodCalendar, periodOf } from './segment/tags/periods';
export { Segment } from './segment/allocation/segment';
export { SegmentIdGenerator } from './segment/segment-id-generator';
export { InterleavedBlocks, type Block } from './segment/tags/interleaved-blocks';
export {
  DEFAULT_SEGMENT_OPTIONS,
  SEGMENT_RULES,
  type SegmentOptions,
  nextStep,
} from './segment/allocation/segment-options';
export { MAX_BLOCKS, orRefusal, TagExhaustedError } from './segment/tags/segment-store';
export {
  type FailingTags,
  UsedSources,
  type DoubleBufferSnapshot,
  type SegmentSnapshot,
  type TagSnapshot,
  type TagVisit,
} from './segment/allocation/tag-source';
export { type Survey, usedOnly } from './segment/directory/tag-lookup';
export {
  assertKey,
  assertPattern,
  assertReason,
  isSameNumbering,
  KEY_PATTERN,
  KEY_RULE,
  MAX_KEY,
  MAX_KEYS,
  MAX_REASON,
  NUMBER_STATES,
  REASON_PATTERN,
  type NumberRequest,
} from './numbers/document-number';
export { type AuditJson, cursorOf, jsonOfAudit, parseCursor } from './numbers/number-json';
export { JournalSeal, type JournalEntry, type NumberEvent } from './numbers/number-journal';
export { historyLost, NumberLedger, type NumberHead, voidNumber } from './numbers/number-ledger';
export {
  type Continuation,
  MAX_OPEN_COUNTED,
  notGapless,
  type NumberPage,
  NumberStore,
  type OpenNumbers,
} from './numbers/number-store';
export { gaplessTag, periodicTag, replacedTag, unknownTag } from './segment/tags/tag-refusals';
export {
  type DeclaredTag,
  DEFAULT_STEP,
  fitsDescription,
  MAX_DESCRIPTION,
  newTagOf,
  newTagRule,
  jsonOfTag,
  MAX_TAGS_PER_PAGE,
  type TagJson,
} from './segment/tags/tag-store';
export {
  MAX_INTERLEAVE,
  MAX_STEP,
  ORDERS,
  isOrdered,
  isReset,
  RESET_PATTERN,
  RESET_RULE,
  RESETS,
  tagKind,
  assertTag,
  isTag,
  MAX_TAG,
  TAG_PATTERN,
  TAG_RULE,
  tagRule,
} from './segment/tags/tag-settings';
export { defaultLayout, layoutRule, parseLayout } from './snowflake/bit-layout';
export type { IssueWindow, Term } from './snowflake/issue-window';
export { SnowflakeGenerator } from './snowflake/snowflake-generator';
export { LoggedLayout } from './steps/logged-layout';
export { LoggedSegmentStore } from './steps/logged-segment-store';
export { LoggedWorkerFile } from './steps/logged-worker-file';
export { LoggedWorkerStore } from './steps/logged-worker-store';
export { leaseStep, stepFile, StepLog, stepLogRule, type StepLine } from './steps/step-log';
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
} from './worker/records/instance';
export { LeaseHolder } from './worker/records/lease-holder';
export { WorkerFile, type FileRecord } from './worker/records/worker-file';
export { WorkerLease, type WorkerLeaseEvents, type WorkerLeaseSnapshot } from './worker/lease/worker-lease';
export { WorkerPolicy, type Choice, type ChoiceContext, type GraceOptions } from './worker/registry/worker-policy';
export {
  LEASE_LIMITS,
  LEASE_RULES,
  leaseFaults,
  type LeaseLimits,
  rangeFaults,
  type WorkerRegistryOptions,
} from './worker/registry/registry-options';
export {
  formatWorkerRange,
  isWorkerIn,
  parseWorkerRange,
  type WorkerRange,
  workerRangeRule,
  workersIn,
  workersOfDatacenter,
} from './worker/records/worker-range';
export { holdersOf, mayBeUsed } from './worker/records/record-relation';
export { workerStoreRule } from './worker/records/worker-store';
export type { WorkerClaim } from './worker/lease/worker-claim';
export { leaseText, windowOf } from './worker/records/window-holder';
export {
  HOLDER_PATTERN,
  MARKS,
  WINDOW_MS,
  type WindowProgress,
  type WorkerWindow,
  WorkerWindows,
} from './worker/windows/worker-windows';
