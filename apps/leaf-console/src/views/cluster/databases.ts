import type { TagRow } from '../../api/admin-api';

export interface DatabaseTag {
  readonly tag: string;
  readonly rate: number;
}

export interface Database {
  readonly name: string;
  readonly rate: number;
  /** The busiest first. */
  readonly tags: readonly DatabaseTag[];
}

/** The tags of each database by name; empty if the server has one database. */
export function databasesOf(rows: readonly TagRow[], rateOf: (tag: string) => number): Database[] {
  const databases = new Map<string, DatabaseTag[]>();
  for (const { tag, shard } of rows) {
    if (shard === undefined) continue;
    const tags = databases.get(shard) ?? [];
    tags.push({ tag, rate: rateOf(tag) });
    databases.set(shard, tags);
  }
  return [...databases]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, tags]) => ({
      name,
      rate: tags.reduce((sum, { rate }) => sum + rate, 0),
      tags: tags.sort((a, b) => (a.rate === b.rate ? (a.tag < b.tag ? -1 : 1) : b.rate - a.rate)),
    }));
}
