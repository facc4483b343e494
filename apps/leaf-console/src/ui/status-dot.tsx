import type { JSX } from 'preact';
import type { Messages } from '../i18n/dictionary';
import type { PartStatus, ServerState } from '../monitor/views';

/** A coloured dot. A text next to it, or a label for screen readers, repeats the status. */
export function StatusDot({ status, label }: { readonly status: PartStatus; readonly label?: string }): JSX.Element {
  return (
    <>
      <span class={`dot dot-${status}`} aria-hidden="true" />
      {label !== undefined && <span class="unseen">{label}</span>}
    </>
  );
}

/** The dot of each state that a server reports of itself. */
export const SERVER_STATE_DOTS: Readonly<Record<ServerState, PartStatus>> = {
  ready: 'up',
  degraded: 'degraded',
  starting: 'degraded',
  draining: 'degraded',
  down: 'down',
};

export function serverStateWords(t: Messages): Readonly<Record<ServerState, string>> {
  return {
    ready: t.stateReady,
    degraded: t.stateDegraded,
    starting: t.stateStarting,
    draining: t.stateDraining,
    down: t.stateDown,
  };
}
