import type { JSX } from 'preact';
import { seconds } from './seconds';
import type { LearnTexts } from './texts/en';
import type { Entry } from './world/film-events';

const SHOWN = 9;

/** The newest events, the newest first. */
export function EventLog({ t, log }: { readonly t: LearnTexts; readonly log: readonly Entry[] }): JSX.Element {
  const first = Math.max(0, log.length - SHOWN);
  const newest = log.slice(first).map((entry, index) => ({ entry, number: first + index }));
  return (
    <section class="card learn-log" aria-label={t.log}>
      <h2>{t.log}</h2>
      <ol reversed>
        {newest.reverse().map(({ entry, number }) => (
          <li key={number} class={entry.kind === 'duplicate' ? 'is-down' : ''}>
            <span class="soft num">{seconds(entry.at)} s</span> {sentence(entry, t)}
          </li>
        ))}
      </ol>
    </section>
  );
}

function sentence({ kind, process, workerId, code = '' }: Entry, t: LearnTexts): string {
  const worker = String(workerId ?? '');
  switch (kind) {
    case 'started':
      return t.started(process);
    case 'waiting':
      return t.waiting(process);
    case 'acquired':
      return t.acquired(process, worker);
    case 'acquire-failed':
      return t.acquireFailed(process, code);
    case 'report-failed':
      return t.reportFailed(process, code);
    case 'registered-again':
      return t.registeredAgain(process, worker);
    case 'gave-up':
      return t.gaveUp(process);
    case 'lost':
      return t.lost(process, code);
    case 'refuses':
      return t.refuses(process, code);
    case 'issues':
      return t.issues(process);
    case 'crashed':
      return t.crashed(process);
    case 'stopped':
      return t.stopped(process);
    case 'refused-to-start':
      return t.refusedToStart(process, code);
    case 'duplicate':
      return t.duplicate(process);
  }
}
