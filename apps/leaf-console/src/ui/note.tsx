import type { JSX } from 'preact';
import type { Problem } from '../api/problem';
import { useConsole } from '../state/context';

/** Shows why a request failed, next to its control, and announces it to screen readers. */
export function ProblemNote({ problem }: { readonly problem: Problem | undefined }): JSX.Element {
  const { t } = useConsole();
  return (
    <div role="alert" class={problem === undefined ? 'unseen' : 'note note-down'}>
      {problem !== undefined && (
        <>
          {problem.status === 401 && <strong>{t.tokenWrong} </strong>}
          {problem.status === 0 ? t.noAnswer : problem.detail}
          <span class="code">{problem.code === '' ? '' : ` ${problem.code} · ${problem.status}`}</span>
        </>
      )}
    </div>
  );
}

/** Shows that a request succeeded. */
export function DoneNote({ text }: { readonly text: string }): JSX.Element {
  return (
    <div role="status" class={text === '' ? 'unseen' : 'note note-up'}>
      {text}
    </div>
  );
}
