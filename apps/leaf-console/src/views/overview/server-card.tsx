import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { OverviewView } from '../../monitor/views';
import { useConsole, useMonitor } from '../../state/context';
import { Ago } from '../../ui/exact';
import { DoneNote } from '../../ui/note';
import { ActForm } from '../../ui/act-form';
import { Field } from '../../ui/field';

/** Facts about this server, and the button that drains it. */
export function ServerCard({ overview }: { readonly overview: OverviewView }): JSX.Element {
  const { t, format } = useConsole();
  const store = useMonitor();
  const [open, setOpen] = useState(false);
  const [done, setDone] = useState('');
  const { name, version, instance, startedAt, issued } = overview;
  const draining = overview.parts.some((part) => part.name === 'drain' && !['off', 'up'].includes(part.status));
  const facts: readonly (readonly [string, JSX.Element | string])[] = [
    [t.instance, `${name} · ${instance}`],
    [t.version, version],
    [t.uptime, format.span(store.now() - startedAt)],
    [t.started, <Ago at={startedAt} />],
    [`${t.issued}, ${t.segmentMode}`, format.count(issued.segment)],
    [`${t.issued}, ${t.snowflakeMode}`, format.count(issued.snowflake)],
  ];
  return (
    <section class="card" aria-label={t.server}>
      <div class="card-head">
        <h2>{t.server}</h2>
        <button
          type="button"
          onClick={() => {
            setDone('');
            setOpen(true);
          }}
        >
          {draining ? t.undoDrain : t.drain} …
        </button>
      </div>
      <dl class="facts">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <DoneNote text={done} />
      {open && (
        <DrainDialog
          {...{ instance, draining }}
          onDone={() => {
            setDone(draining ? t.drainUndone : t.draining);
            setOpen(false);
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </section>
  );
}

interface DrainDialogProps {
  readonly instance: string;
  /** Whether the server is draining now: the dialog then ends it. */
  readonly draining: boolean;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Starts draining this server after a confirmation, or ends it. */
function DrainDialog({ instance, draining, onDone, onClose }: DrainDialogProps): JSX.Element {
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
