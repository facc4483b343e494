import type { JSX } from 'preact';
import type { Film } from './film';
import { seconds } from './seconds';
import type { LearnTexts } from './texts/en';
import type { Issued } from './world/issued';

/** Whether an ID was issued twice, and by whom. */
export function Verdict({ t, film }: { readonly t: LearnTexts; readonly film: Film }): JSX.Element {
  const { ids, duplicates } = film.world;
  const [first] = duplicates;
  if (first?.first !== undefined) {
    return (
      <div role="status" class="note note-down learn-verdict">
        <strong>{t.twice(String(duplicates.length))} </strong>
        {t.twiceBy(String(first.id), holderOf(first.first, t), holderOf(first, t), seconds(first.timestamp))}
      </div>
    );
  }
  const isHarmed = film.ended && film.isBroken;
  return (
    <div role="status" class={`note learn-verdict ${isHarmed ? 'note-degraded' : 'note-up'}`}>
      {t.allDifferent(String(ids.length))} {isHarmed && t.harmed}
    </div>
  );
}

function holderOf({ process, workerId }: Issued, t: LearnTexts): string {
  return t.by(process.name, String(workerId));
}
