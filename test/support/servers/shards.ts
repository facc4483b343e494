import { systemRandom } from '@leaf-ids/core/internal';
import {
  FIRST_TAG,
  parseDatabaseUrl,
  Shard,
  ShardedSegmentStore,
  ShardedTagStore,
  ShardRouter,
  Shards,
} from '@leaf-ids/persistence';
import { DEFAULT_LIMITS } from '../../../libs/persistence/src/connections/connection-source';
import { clock, FAILOVER } from '../contract/sql-stores';

export interface ShardedDatabases {
  readonly shards: Shards;
  readonly segments: ShardedSegmentStore;
  readonly tags: ShardedTagStore;
  /** The reported events, newest last. */
  readonly reports: string[];
}

/** Several databases by name and URL, not opened yet. `limits` defaults to those of a server. */
export function shardedDatabases(
  databases: Readonly<Record<string, string>>,
  tags: Readonly<Record<string, string>> = {},
  limits = DEFAULT_LIMITS,
): ShardedDatabases {
  const reports: string[] = [];
  const all = Object.entries(databases).map(
    ([name, url]) =>
      new Shard(
        {
          name,
          target: parseDatabaseUrl(url),
          migrate: true,
          limits,
          failover: FAILOVER,
          onCloseProblem: (step, problem) => reports.push(`${step}: ${problem}`),
          onOpenFailed: () => reports.push(`${name} not open`),
        },
        clock,
        systemRandom,
      ),
  );
  const router = new ShardRouter(Object.keys(databases), tags);
  const shards = new Shards(all, router, clock, (fault) => reports.push(fault), FIRST_TAG);
  const segments = new ShardedSegmentStore(shards, {
    onShardFailed: (shard) => reports.push(`${shard} failed`),
    onMisplaced: (tag, shard, owner) => reports.push(`${tag} in ${shard}, not ${owner}`),
  });
  return { shards, segments, tags: new ShardedTagStore(shards), reports };
}
