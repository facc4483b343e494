import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ClusterMessages } from '../../i18n/cluster/dictionary';
import { useClusterMessages } from '../../i18n/cluster/messages';
import type { ClusterServer, CommandBody } from '../../monitor/views';
import { useConsole, useMonitor } from '../../state/context';
import { ActForm } from '../../ui/act-form';
import { Choice, Field } from '../../ui/field';
import type { ShownResult } from './server-sorting';

/** Suggestions for tag names. */
const SUGGESTED_TAGS = 200;

interface CommandDialogProps {
  readonly servers: readonly ClusterServer[];
  /** The instance to begin with, or `''` for all. */
  readonly target: string;
  readonly onDone: (results: readonly ShownResult[]) => void;
  readonly onClose: () => void;
}

/** Runs a command on one server or on all. Draining asks for a confirmation. */
export function CommandDialog(props: CommandDialogProps): JSX.Element {
  const { t, admin, format } = useConsole();
  const { tags } = useMonitor();
  const c = useClusterMessages();
  const [command, setCommand] = useState<CommandBody['order']>('pause-tag');
  const [target, setTarget] = useState(props.target);
  const [tag, setTag] = useState('');
  const [typed, setTyped] = useState('');
  const instances = props.servers.map(({ instance }) => instance);
  const ofTag = command === 'pause-tag' || command === 'resume-tag';
  const words = ofTag ? (command === 'pause-tag' ? c.pauseOf : c.resumeOf)(tag) : wordsOf(c)[command];
  const confirm = command === 'drain' ? (target === '' ? String(instances.length) : target) : undefined;
  const complete = (!ofTag || tag !== '') && (confirm === undefined || typed === confirm);
  const body: CommandBody = {
    order: command,
    ...(ofTag ? { tag } : {}),
    ...(target === '' ? {} : { servers: [target] }),
    ...(confirm === undefined || target !== '' ? {} : { confirm }),
  };
  return (
    <ActForm
      title={target === '' ? c.commandAll : c.commandOf(target)}
      verb={c.give}
      danger={command === 'drain'}
      complete={complete}
      act={() => admin.command(body)}
      onDone={({ results }) => props.onDone(results.map((result) => ({ result, command: words })))}
      onClose={props.onClose}
    >
      <Choice
        label={c.commandVerb}
        value={command}
        onValue={setCommand}
        options={(['pause-tag', 'resume-tag', 'drain', 'undrain'] as const).map((name) => [name, wordsOf(c)[name]])}
      />
      <Choice
        label={c.target}
        value={target}
        onValue={setTarget}
        options={[
          ['', c.allServers(format.count(instances.length))],
          ...instances.map((name) => [name, name] as const),
        ]}
      />
      {ofTag && (
        <>
          <Field label={c.tag} value={tag} onValue={setTag} list="command-tags" required />
          <datalist id="command-tags">
            {[...tags.keys()].slice(0, SUGGESTED_TAGS).map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
      <p class="hint">{hintOf(c, command)}</p>
      {command === 'drain' && target === '' && <p class="note note-degraded">{c.drainAllHint}</p>}
      {confirm !== undefined && <Field label={t.typeToConfirm(confirm)} value={typed} onValue={setTyped} required />}
    </ActForm>
  );
}

function wordsOf(c: ClusterMessages): Readonly<Record<CommandBody['order'], string>> {
  return { 'pause-tag': c.pause, 'resume-tag': c.resume, drain: c.drain, undrain: c.undrain };
}

function hintOf(c: ClusterMessages, command: CommandBody['order']): string {
  return { 'pause-tag': c.pauseHint, 'resume-tag': c.resumeHint, drain: c.drainHint, undrain: c.undrainHint }[command];
}
