import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Problem } from '../../api/problem';
import { useConsole } from '../../state/context';
import { DoneNote, ProblemNote } from '../../ui/note';
import { TokenControl } from '../../ui/token-control';

/** Starts and stops draining this server. */
export function DrainControl({ draining }: { readonly draining: boolean }): JSX.Element {
  const { t, admin, token } = useConsole();
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const [done, setDone] = useState('');
  const set = async (drain: boolean): Promise<void> => {
    setProblem(undefined);
    setDone('');
    const outcome = await admin.setDraining(drain);
    if (outcome.ok) setDone(drain ? t.draining : t.drainUndone);
    else setProblem(outcome.problem);
  };
  return (
    <details class="drain">
      <summary>{t.drain}</summary>
      <p class="hint">{t.drainHint}</p>
      <TokenControl />
      <button type="button" disabled={token === ''} onClick={() => void set(!draining)}>
        {draining ? t.undoDrain : t.drain}
      </button>
      <DoneNote text={done} />
      <ProblemNote problem={problem} />
    </details>
  );
}
