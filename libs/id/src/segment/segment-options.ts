import type { SegmentStore } from '@leaf-ids/core';
import {
  callback,
  DEFAULT_SEGMENT_OPTIONS,
  milliseconds,
  required,
  type Rules,
  SEGMENT_RULES,
  type SegmentOptions,
  text,
} from '@leaf-ids/core/internal';
import { type LoggerOption, loggerRule, type PersistenceModuleOptions, persistenceRule } from '@leaf-ids/persistence';

/** Omitted options have their defaults. */
export interface SegmentModuleOptions extends Partial<SegmentOptions>, LoggerOption {
  readonly database: PersistenceModuleOptions;
  /** Time between two tag refreshes, in milliseconds; 60,000 by default. */
  readonly refreshMs?: number;
  /** File for the tags used in the last day, which the next start preloads. If omitted, they are not saved. */
  readonly hotTagsFile?: string;
  /** Wraps the store of the segments, for example to trace its calls. */
  readonly wrapStore?: (store: SegmentStore) => SegmentStore;
}

export const DEFAULT_SEGMENT_MODULE_OPTIONS = { ...DEFAULT_SEGMENT_OPTIONS, refreshMs: 60_000 };

export const SEGMENT_MODULE_RULES: Rules<SegmentModuleOptions> = {
  ...SEGMENT_RULES,
  database: required(persistenceRule),
  refreshMs: milliseconds(1),
  hotTagsFile: text,
  wrapStore: callback,
  logger: loggerRule,
};
