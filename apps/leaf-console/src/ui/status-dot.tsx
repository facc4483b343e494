import type { JSX } from 'preact';
import type { PartStatus } from '../monitor/views';

/** A coloured dot. A text next to it, or a label for screen readers, repeats the status. */
export function StatusDot({ status, label }: { readonly status: PartStatus; readonly label?: string }): JSX.Element {
  return (
    <>
      <span class={`dot dot-${status}`} aria-hidden="true" />
      {label !== undefined && <span class="unseen">{label}</span>}
    </>
  );
}
