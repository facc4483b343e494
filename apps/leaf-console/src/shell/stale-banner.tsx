import type { JSX } from 'preact';
import { useConsole, useMonitor } from '../state/context';

/** Shows since when the page has no connection. */
export function StaleBanner(): JSX.Element {
  const { t, format } = useConsole();
  const { staleSince } = useMonitor();
  return (
    <div role="alert" class={staleSince === undefined ? 'unseen' : 'banner'}>
      {staleSince === undefined ? '' : t.staleSince(format.clock(staleSince))}
    </div>
  );
}
