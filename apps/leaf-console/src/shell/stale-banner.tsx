import type { JSX } from 'preact';
import { useConsole, useMonitor } from '../state/context';

/** Says that nothing new comes, and since when. */
export function StaleBanner(): JSX.Element {
  const { t, format } = useConsole();
  const { staleSince } = useMonitor();
  return (
    <div role="alert" class={staleSince === undefined ? 'unseen' : 'banner'}>
      {staleSince === undefined ? '' : t.staleSince(format.clock(staleSince))}
    </div>
  );
}
