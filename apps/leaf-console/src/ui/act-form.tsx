import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Outcome, Problem } from '../api/problem';
import { useConsole } from '../state/context';
import { Dialog } from './dialog';
import { ProblemNote } from './note';
import { TokenControl } from './token-control';

interface ActFormProps<T> {
  readonly title: string;
  readonly verb: string;
  readonly danger?: boolean;
  /** False if some servers do the action without a token. */
  readonly needsToken?: boolean;
  /** Whether the form is complete. */
  readonly complete: boolean;
  readonly act: () => Promise<Outcome<T>>;
  readonly onDone: (value: T) => void;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A dialog with one action. It closes if the action succeeds, and otherwise shows the problem. */
export function ActForm<T>(props: ActFormProps<T>): JSX.Element {
  const { t, token } = useConsole();
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const lacksToken = token === '' && props.needsToken !== false;
  const submit = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    const outcome = await props.act();
    setBusy(false);
    if (outcome.ok) props.onDone(outcome.value);
    else setProblem(outcome.problem);
  };
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      {(lacksToken || problem?.status === 401) && <TokenControl />}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {props.children}
        <ProblemNote problem={problem} />
        <div class="dialog-acts">
          <button type="button" onClick={props.onClose}>
            {t.cancel}
          </button>
          <button
            type="submit"
            class={props.danger === true ? 'main danger' : 'main'}
            disabled={busy || !props.complete || lacksToken}
            title={lacksToken ? t.tokenNeeded : undefined}
          >
            {props.verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
