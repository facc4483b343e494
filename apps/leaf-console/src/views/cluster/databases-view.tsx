import type { JSX } from 'preact';
import { useClusterMessages } from '../../i18n/cluster/messages';
import { useConsole, useMonitor } from '../../state/context';
import { EmptyState } from '../../ui/empty-state';
import { ProblemNote } from '../../ui/note';
import { useTagRows } from '../tags/use-tag-rows';
import { type Database, databasesOf } from './databases';

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
