import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { TagRow } from '../../api/admin-api';
import type { Outcome } from '../../api/problem';
import { useConsole } from '../../state/context';
import { ActForm } from '../../ui/act-form';
import { Field } from '../../ui/field';
import { kindOf, KindFields, NO_SETTINGS } from './tag-settings';

const MAX_DESCRIPTION = 256;

interface CreateDialogProps {
  readonly onDone: (row: TagRow) => void;
  readonly onClose: () => void;
}

export function CreateDialog({ onDone, onClose }: CreateDialogProps): JSX.Element {
  const { t, admin } = useConsole();
  const [tag, setTag] = useState('');
  const [step, setStep] = useState('2000');
  const [maxStep, setMaxStep] = useState('');
  const [maxId, setMaxId] = useState('');
  const [max, setMax] = useState('');
  const [description, setDescription] = useState('');
  const [settings, setSettings] = useState(NO_SETTINGS);
  const isGapless = settings.order === 'gapless';
  const act = (): Promise<Outcome<TagRow>> =>
    admin.create({
      tag,
      ...(isGapless ? {} : { step: Number(step) }),
      ...(isGapless || maxStep.trim() === '' ? {} : { maxStep: Number(maxStep) }),
      ...(maxId.trim() === '' ? {} : { maxId: maxId.trim() }),
      ...(max.trim() === '' ? {} : { max: max.trim() }),
      ...(description === '' ? {} : { description }),
      ...kindOf(settings),
    });
  const complete = tag !== '' && (isGapless || step !== '');
  return (
    <ActForm title={t.createTag} verb={t.create} {...{ complete, act, onDone, onClose }}>
      <Field label={t.name} value={tag} onValue={setTag} hint={t.nameHint} required />
      {!isGapless && <StepFields {...{ step, setStep, maxStep, setMaxStep }} />}
      <Field label={t.firstId} value={maxId} onValue={setMaxId} hint={t.firstIdHint} digits />
      <Field label={t.lastId} value={max} onValue={setMax} hint={t.lastIdHint} digits />
      <Field label={t.description} value={description} onValue={setDescription} maxLength={MAX_DESCRIPTION} />
      <KindFields value={settings} onValue={setSettings} />
    </ActForm>
  );
}

interface StepFieldsProps {
  readonly step: string;
  readonly setStep: (step: string) => void;
  readonly maxStep: string;
  readonly setMaxStep: (maxStep: string) => void;
}

/** The sizes of segments, which gapless tags do not have. */
function StepFields({ step, setStep, maxStep, setMaxStep }: StepFieldsProps): JSX.Element {
  const { t } = useConsole();
  return (
    <>
      <Field label={t.stepField} value={step} onValue={setStep} hint={t.stepFieldHint} digits required />
      <Field label={t.maxStep} value={maxStep} onValue={setMaxStep} hint={t.maxStepHint} digits />
    </>
  );
}

interface RowDialogProps extends CreateDialogProps {
  readonly row: TagRow;
}

export function EditDialog({ row, onDone, onClose }: RowDialogProps): JSX.Element {
  const { t, admin } = useConsole();
  const isGapless = row.order === 'gapless';
  const [step, setStep] = useState(String(row.step));
  const [maxStep, setMaxStep] = useState(String(row.maxStep ?? ''));
  const [maxId, setMaxId] = useState('');
  const [max, setMax] = useState(row.max ?? '');
  const [description, setDescription] = useState(row.description);
  const change = {
    ...(step === String(row.step) ? {} : { step: Number(step) }),
    ...(maxStep.trim() === String(row.maxStep ?? '') ? {} : { maxStep: orNull(maxStep, Number) }),
    ...(maxId.trim() === '' ? {} : { maxId: maxId.trim() }),
    ...(max.trim() === (row.max ?? '') ? {} : { max: orNull(max, String) }),
    ...(description === row.description ? {} : { description }),
  };
  const complete = step !== '' && Object.keys(change).length > 0;
  const act = (): Promise<Outcome<TagRow>> => admin.change(row.tag, change);
  return (
    <ActForm title={t.editTag(row.tag)} verb={t.save} {...{ complete, act, onDone, onClose }}>
      {!isGapless && <StepFields {...{ step, setStep, maxStep, setMaxStep }} />}
      <Field label={t.lastId} value={max} onValue={setMax} hint={t.lastIdHint} digits />
      <Field label={t.description} value={description} onValue={setDescription} maxLength={MAX_DESCRIPTION} />
      {!isGapless && (
        <Field label={t.raiseMaxId} value={maxId} onValue={setMaxId} hint={t.raiseMaxIdHint(row.maxId)} digits />
      )}
    </ActForm>
  );
}

/** Clearing a field removes the setting. */
function orNull<T>(text: string, read: (text: string) => T): T | null {
  return text.trim() === '' ? null : read(text.trim());
}

interface RemoveDialogProps {
  readonly row: TagRow;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function RemoveDialog({ row, onDone, onClose }: RemoveDialogProps): JSX.Element {
  const { t, admin } = useConsole();
  const [typed, setTyped] = useState('');
  const complete = typed === row.tag;
  const act = (): Promise<Outcome<unknown>> => admin.remove(row.tag);
  return (
    <ActForm title={t.removeTag(row.tag)} verb={t.remove} danger {...{ complete, act, onDone, onClose }}>
      <p>{t.removeWarning}</p>
      <Field label={t.typeToConfirm(row.tag)} value={typed} onValue={setTyped} required />
    </ActForm>
  );
}
