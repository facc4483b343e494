import type { JSX } from 'preact';
import { useClusterMessages } from '../../i18n/cluster/messages';
import { useConsole, useMonitor } from '../../state/context';
import { EmptyState } from '../../ui/empty-state';
import { ProblemNote } from '../../ui/note';
import { useTagRows } from '../tags/use-tag-rows';
import type { TagRow } from '../../api/admin-api';

/** Tags named for each database. */
const NAMED_TAGS = 30;

/** Which database issues which tag. */
export function DatabasesView(): JSX.Element {
  const { t } = useConsole();
  const c = useClusterMessages();
  const { tags, segments } = useMonitor();
  const { rows, loading, problem } = useTagRows();
  if (segments?.enabled === false) return <EmptyState icon="segments" title={t.modeOff(t.segmentMode)} />;
  if (problem !== undefined) return <ProblemNote problem={problem} />;
  if (rows === undefined || loading) return <p class="waiting">{t.loadingTags}</p>;
  const databases = databasesOf(rows, (tag) => tags.get(tag)?.view.rate ?? 0);
  if (databases.length === 0) return <EmptyState icon="segments" title={c.oneDatabase} />;
  const total = databases.reduce((sum, { rate }) => sum + rate, 0);
  return (
    <>
      <p class="hint">{c.databasesHint}</p>
      <div class="databases">
        {databases.map((database) => (
          <DatabaseCard key={database.name} database={database} share={total === 0 ? 0 : database.rate / total} />
        ))}
      </div>
    </>
  );
}

function DatabaseCard({ database, share }: { readonly database: Database; readonly share: number }): JSX.Element {
  const { format } = useConsole();
  const c = useClusterMessages();
  const { name, rate, tags } = database;
  return (
    <section class="card" aria-label={name}>
      <div class="card-head">
        <h2>{name}</h2>
        <span class="soft">{c.databaseTags(format.count(tags.length), format.rate(rate))}</span>
      </div>
      <div
        class="share"
        role="meter"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
        aria-label={c.shareOf(name, format.percent(share))}
      >
        <i style={{ width: `${share * 100}%` }} />
      </div>
      <ul class="database-tags">
        {tags.slice(0, NAMED_TAGS).map((each) => (
          <li key={each.tag}>
            <span class="tag-name" title={each.tag}>
              {each.tag}
            </span>{' '}
            <small>{format.rate(each.rate)}</small>
          </li>
        ))}
        {tags.length > NAMED_TAGS && <li class="soft">{c.moreTags(format.count(tags.length - NAMED_TAGS))}</li>}
      </ul>
    </section>
  );
}

interface DatabaseTag {
  readonly tag: string;
  readonly rate: number;
}

interface Database {
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
