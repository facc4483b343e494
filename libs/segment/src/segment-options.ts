import { DEFAULT_SEGMENT_OPTIONS, type SegmentOptions, type SegmentStore } from '@leaf-ids/core';
import type { PersistenceModuleOptions } from '@leaf-ids/persistence';

/** What is left out has its default. */
export interface SegmentModuleOptions extends Partial<SegmentOptions> {
  readonly database: PersistenceModuleOptions;
  /** Time between two tag refreshes, in milliseconds; 60,000 by default. */
  readonly refreshMs?: number;
  /** Where the tags of the last day are kept, to be loaded ahead at the next start; left out: nowhere. */
  readonly hotTagsFile?: string;
  /** What stands between the tags and their database, to watch it for example; left out: nothing. */
  readonly wrapStore?: (store: SegmentStore) => SegmentStore;
}

export const DEFAULT_SEGMENT_MODULE_OPTIONS = { ...DEFAULT_SEGMENT_OPTIONS, refreshMs: 60_000 };
