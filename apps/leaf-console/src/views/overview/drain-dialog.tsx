import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useConsole } from '../../state/context';
import { ActForm } from '../../ui/act-form';
import { Field } from '../../ui/field';

interface DrainDialogProps {
  readonly instance: string;
  /** Whether the server is draining now: the dialog then ends it. */
  readonly draining: boolean;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Starts draining this server after a confirmation, or ends it. */
export function DrainDialog({ instance, draining, onDone, onClose }: DrainDialogProps): JSX.Element {
  const { t, admin } = useConsole();
  const [typed, setTyped] = useState('');
  const title = draining ? t.undoDrain : t.drainServer(instance);
  return (
    <ActForm
      title={title}
      verb={draining ? t.undoDrain : t.drain}
      danger={!draining}
      complete={draining || typed === instance}
      act={() => admin.setDraining(!draining)}
      onDone={onDone}
      onClose={onClose}
    >
      <p>{draining ? t.undoDrainHint : t.drainHint}</p>
      {!draining && <Field label={t.typeToConfirm(instance)} value={typed} onValue={setTyped} required />}
    </ActForm>
  );
}
