import { LeafError } from '@leaf-ids/core';
import type { LeafConfig } from '../config/leaf-config';

type Segment = NonNullable<LeafConfig['ids']['segment']>;
type Database = Exclude<Segment['database'], { readonly dataSource: unknown }>;

export interface ConfiguredDatabases {
  readonly segment: Omit<Segment, 'database'> & { readonly database: Database };
  /** Name → URL; a single database is called `database`. */
  readonly urls: ReadonlyMap<string, string>;
}

/** @throws LeafError `LEAF_CONFIG_INVALID` when segment mode is off */
export function databasesOf({ ids: { segment } }: LeafConfig): ConfiguredDatabases {
  if (segment === undefined || 'dataSource' in segment.database) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      'Segment mode is off, so there are no tags. Set LEAF_SEGMENT_ENABLED=true.',
    );
  }
  const { database } = segment;
  const urls = 'shards' in database ? Object.entries(database.shards.databases) : [['database', database.url] as const];
  return { segment: { ...segment, database }, urls: new Map(urls) };
}
