import type { JSX } from 'preact';
import type { PartStatus } from '../monitor/views';

/** Colour for the eye; the word stands beside it, or is read out. */
export function StatusDot({ status, label }: { readonly status: PartStatus; readonly label?: string }): JSX.Element {
  return (
    <>
      <span class={`dot dot-${status}`} aria-hidden="true" />
      {label !== undefined && <span class="unseen">{label}</span>}
    </>
  );
}
