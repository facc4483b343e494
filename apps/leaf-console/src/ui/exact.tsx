import type { ComponentChildren, JSX } from 'preact';
import { useConsole, useMonitor } from '../state/context';

interface ExactProps {
  /** Shown on focus and hover. */
  readonly exact: string;
  readonly children: ComponentChildren;
}

/** A rounded value that shows the exact value on focus and hover. */
export function Exact({ exact, children }: ExactProps): JSX.Element {
  return (
    <span class="exact" tabIndex={0} data-exact={exact}>
      {children}
      <span class="unseen"> ({exact})</span>
    </span>
  );
}

/** Time since `at`, by the clock of the server. */
export function Ago({ at }: { readonly at: number }): JSX.Element {
  const { format } = useConsole();
  const store = useMonitor();
  return <Exact exact={format.local(at)}>{format.ago(at, store.now())}</Exact>;
}
