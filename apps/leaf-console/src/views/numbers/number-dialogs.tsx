import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { NumberRow, NumbersApi } from '../../api/numbers-api';
import type { Outcome } from '../../api/problem';
import { useNumberMessages } from '../../i18n/numbers/messages';
import { useConsole } from '../../state/context';
import { ActForm } from '../../ui/act-form';
import { Field } from '../../ui/field';
import type { Settling } from './number-columns';
import { nameOf } from './number-rows';

/** Of the server, in characters. */
const MAX_REASON = 256;

interface SettleDialogProps {
  readonly api: NumbersApi;
  readonly row: NumberRow;
  readonly settling: Settling;
  readonly onDone: (number: NumberRow) => void;
  readonly onClose: () => void;
}

/** Confirms an open number, or makes it void. */
export function SettleDialog({ api, row, settling, onDone, onClose }: SettleDialogProps): JSX.Element {
  const n = useNumberMessages();
  const [reason, setReason] = useState('');
  const isVoid = settling === 'void';
  const { tag, key } = row;
  const act = (): Promise<Outcome<NumberRow>> => (isVoid ? api.void(tag, key, reason.trim()) : api.confirm(tag, key));
  return (
    <ActForm
      title={(isVoid ? n.voidNumber : n.confirmNumber)(nameOf(row))}
      verb={n[settling]}
      danger={isVoid}
      needsToken={false}
      complete={!isVoid || reason.trim() !== ''}
      {...{ act, onDone, onClose }}
    >
      <p>{(isVoid ? n.voidHint : n.confirmHint)(key)}</p>
      {isVoid && <ReasonField reason={reason} setReason={setReason} />}
    </ActForm>
  );
}

interface ReasonFieldProps {
  readonly reason: string;
  readonly setReason: (reason: string) => void;
}

function ReasonField({ reason, setReason }: ReasonFieldProps): JSX.Element {
  const n = useNumberMessages();
  return (
    <Field label={n.reason} value={reason} onValue={setReason} hint={n.reasonHint} maxLength={MAX_REASON} required />
  );
}

interface ContinueDialogProps {
  readonly api: NumbersApi;
  readonly tag: string;
  readonly hasPeriods: boolean;
  readonly onDone: (skipped: number) => void;
  readonly onClose: () => void;
}

/** Says where a tag continues whose newest numbers may be lost. */
export function ContinueDialog({ api, tag, hasPeriods, onDone, onClose }: ContinueDialogProps): JSX.Element {
  const { t } = useConsole();
  const n = useNumberMessages();
  const [lastNumber, setLastNumber] = useState('');
  const [period, setPeriod] = useState('');
  const [reason, setReason] = useState('');
  const [typed, setTyped] = useState('');
  return (
    <ActForm
      title={n.continueTag(tag)}
      verb={n.continueVerb}
      danger
      complete={lastNumber.trim() !== '' && reason.trim() !== '' && typed === tag}
      act={() =>
        api.continueAfter(tag, {
          lastNumber: lastNumber.trim(),
          reason: reason.trim(),
          ...(period.trim() === '' ? {} : { period: period.trim() }),
        })
      }
      onDone={({ skipped }) => onDone(skipped)}
      onClose={onClose}
    >
      <p class="note note-degraded">{n.continueHint}</p>
      <Field label={n.lastNumber} value={lastNumber} onValue={setLastNumber} hint={n.lastNumberHint} digits required />
      {hasPeriods && (
        <Field label={n.continuedPeriod} value={period} onValue={setPeriod} hint={n.continuedPeriodHint} />
      )}
      <ReasonField reason={reason} setReason={setReason} />
      <Field label={t.typeToConfirm(tag)} value={typed} onValue={setTyped} required />
    </ActForm>
  );
}
