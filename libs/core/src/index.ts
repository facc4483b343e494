export { Clock, SystemClock } from './clock/clock';
export { ERROR_CATALOGUE, type LeafErrorCode } from './errors/error-catalogue';
export { isLeafError, LeafError, type LeafErrorOptions } from './errors/leaf-error';
export type { HistogramSnapshot } from './util/histogram';
export { DatedFormat, type DatedId, SnowflakeDateFormat } from './format/dated-format';
export type { IdFormat } from './format/id-format';
export { IdPermutation, type IdPermutationOptions, PermutedFormat } from './format/id-permutation';
export { PeriodFormat, type PeriodFormatOptions } from './format/period-format';
export { PrefixedFormat } from './format/id-format';
export { RadixFormat, type RadixFormatOptions } from './format/radix-format';
export { Numbers } from './numbers/numbers';
export {
  type DocumentNumber,
  type GaplessSettings,
  type NumberAnswer,
  type NumberState,
} from './numbers/document-number';
export type { TransactionStatement } from './numbers/number-store';
export type { AuditFault, NumberAudit } from './numbers/number-audit';
export type { NumberJson } from './numbers/number-json';
export { IdService, type PeriodNumber } from './service/id-service';
export type { PeriodicTaskSnapshot } from './util/periodic-task';
export type { RandomSource } from './util/random';
export { type IdRange, idsOf, MAX_BATCH_SIZE, MAX_ID, MAX_RANGE_SIZE, sizeOf } from './segment/tags/id-range';
export { type Period, type PeriodRanges, periodRow, tagOfRow } from './segment/tags/periods';
export { SegmentStore, type Allocation, type AllocationRequest, type TagEntry } from './segment/tags/segment-store';
export {
  assertNewTag,
  assertTagChange,
  type TagPage,
  TagStore,
  type NewTag,
  type TagChange,
  type TagRow,
} from './segment/tags/tag-store';
export {
  type Interleave,
  PLAIN_TAG,
  type TagKind,
  type TagLimits,
  type TagOrder,
  type TagReset,
} from './segment/tags/tag-settings';
export {
  BitLayout,
  DEFAULT_EPOCH,
  DEFAULT_LAYOUT,
  type BitLayoutOptions,
  type SnowflakeParts,
} from './snowflake/bit-layout';
export { formatInstance, type Instance } from './worker/records/instance';
export { parseRegistryDocument, type RegistryDocument, type WorkerUsage } from './worker/records/registry-document';
export { WorkerRegistry } from './worker/lease/worker-registry';
export {
  WorkerStore,
  type NewWorker,
  type Peer,
  type StoredRegistry,
  type StoredWorker,
  type TimeSource,
  type WorkerRecord,
} from './worker/records/worker-store';
