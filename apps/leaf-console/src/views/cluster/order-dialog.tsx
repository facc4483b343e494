import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ClusterMessages } from '../../i18n/cluster/dictionary';
import { useClusterMessages } from '../../i18n/cluster/messages';
import type { ClusterServer, OrderBody } from '../../monitor/views';
import { useConsole, useMonitor } from '../../state/context';
import { ActForm } from '../../ui/act-form';
import { Choice, Field } from '../../ui/field';
import type { ShownResult } from './server-sorting';

/** Suggestions for tag names. */
const SUGGESTED_TAGS = 200;

interface OrderDialogProps {
  readonly servers: readonly ClusterServer[];
  /** The instance to begin with, or `''` for all. */
  readonly target: string;
  readonly onDone: (results: readonly ShownResult[]) => void;
  readonly onClose: () => void;
}

/** Runs an order on one server or on all. Draining asks for a confirmation. */
export function OrderDialog(props: OrderDialogProps): JSX.Element {
  const { t, admin, format } = useConsole();
  const { tags } = useMonitor();
  const c = useClusterMessages();
  const [order, setOrder] = useState<OrderBody['order']>('pause-tag');
  const [target, setTarget] = useState(props.target);
  const [tag, setTag] = useState('');
  const [typed, setTyped] = useState('');
  const instances = props.servers.map(({ instance }) => instance);
  const ofTag = order === 'pause-tag' || order === 'resume-tag';
  const words = ofTag ? (order === 'pause-tag' ? c.pauseOf : c.resumeOf)(tag) : orderWords(c)[order];
  const confirm = order === 'drain' ? (target === '' ? String(instances.length) : target) : undefined;
  const complete = (!ofTag || tag !== '') && (confirm === undefined || typed === confirm);
  const body: OrderBody = {
    order,
    ...(ofTag ? { tag } : {}),
    ...(target === '' ? {} : { servers: [target] }),
    ...(confirm === undefined || target !== '' ? {} : { confirm }),
  };
  return (
    <ActForm
      title={target === '' ? c.orderAll : c.orderOf(target)}
      verb={c.give}
      danger={order === 'drain'}
      complete={complete}
      act={() => admin.order(body)}
      onDone={({ results }) => props.onDone(results.map((result) => ({ result, order: words })))}
      onClose={props.onClose}
    >
      <Choice
        label={c.orderVerb}
        value={order}
        onValue={setOrder}
        options={(['pause-tag', 'resume-tag', 'drain', 'undrain'] as const).map((name) => [name, orderWords(c)[name]])}
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
          <Field label={c.tag} value={tag} onValue={setTag} list="order-tags" required />
          <datalist id="order-tags">
            {[...tags.keys()].slice(0, SUGGESTED_TAGS).map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
      <p class="hint">{hintOf(c, order)}</p>
      {order === 'drain' && target === '' && <p class="note note-degraded">{c.drainAllHint}</p>}
      {confirm !== undefined && <Field label={t.typeToConfirm(confirm)} value={typed} onValue={setTyped} required />}
    </ActForm>
  );
}

function orderWords(c: ClusterMessages): Readonly<Record<OrderBody['order'], string>> {
  return { 'pause-tag': c.orderPause, 'resume-tag': c.orderResume, drain: c.orderDrain, undrain: c.orderUndrain };
}

function hintOf(c: ClusterMessages, order: OrderBody['order']): string {
  return { 'pause-tag': c.pauseHint, 'resume-tag': c.resumeHint, drain: c.drainHint, undrain: c.undrainHint }[order];
}
