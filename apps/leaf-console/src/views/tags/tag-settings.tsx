import type { JSX } from 'preact';
import type { TagKind, TagRow } from '../../api/admin-api';
import { useConsole } from '../../state/context';
import { Choice, Field } from '../../ui/field';

/** Form values for the settings of a new tag. */
export interface SettingTexts {
  readonly order: 'relaxed' | 'strict';
  readonly reset: 'never' | 'daily' | 'monthly' | 'yearly';
  readonly zone: string;
  readonly of: string;
  readonly remainder: string;
  readonly block: string;
}

export const NO_SETTINGS: SettingTexts = {
  order: 'relaxed',
  reset: 'never',
  zone: '',
  of: '',
  remainder: '',
  block: '',
};

/** Omits empty fields. */
export function kindOf({ order, reset, zone, of, remainder, block }: SettingTexts): TagKind {
  const isShared = of !== '' || remainder !== '' || block !== '';
  return {
    ...(order === 'relaxed' ? {} : { order }),
    ...(reset === 'never' ? {} : { reset }),
    ...(zone.trim() === '' ? {} : { zone: zone.trim() }),
    ...(isShared ? { interleave: { of: Number(of), remainder: Number(remainder), block: Number(block) } } : {}),
  };
}

interface KindFieldsProps {
  readonly value: SettingTexts;
  readonly onValue: (value: SettingTexts) => void;
}

/** Settings that cannot change later. Collapsed, because most tags do not need them. */
export function KindFields({ value, onValue }: KindFieldsProps): JSX.Element {
  const { t } = useConsole();
  const set = (change: Partial<SettingTexts>): void => onValue({ ...value, ...change });
  return (
    <details class="more">
      <summary>{t.moreSettings}</summary>
      <p class="hint">{t.kindHint}</p>
      <Choice
        label={t.order}
        value={value.order}
        options={[
          ['relaxed', t.relaxed],
          ['strict', t.strict],
        ]}
        onValue={(order) => set({ order })}
      />
      <Choice
        label={t.reset}
        value={value.reset}
        options={[
          ['never', t.never],
          ['daily', t.daily],
          ['monthly', t.monthly],
          ['yearly', t.yearly],
        ]}
        onValue={(reset) => set({ reset })}
      />
      <Field label={t.zone} value={value.zone} onValue={(zone) => set({ zone })} hint={t.zoneHint} />
      <Field label={t.sharedBy} value={value.of} onValue={(of) => set({ of })} hint={t.sharedByHint} digits />
      <Field
        label={t.remainder}
        value={value.remainder}
        onValue={(remainder) => set({ remainder })}
        hint={t.remainderHint}
        digits
      />
      <Field label={t.block} value={value.block} onValue={(block) => set({ block })} hint={t.blockHint} digits />
    </details>
  );
}

/** A short label for each setting of a tag. */
export function SettingBadges({ row }: { readonly row: TagRow }): JSX.Element {
  const { t, format } = useConsole();
  const { shard, order, reset, zone, interleave, maxStep, max } = row;
  const texts = [
    ...(shard === undefined ? [] : [t.databaseBadge(shard)]),
    ...(order === 'strict' ? [t.strict] : []),
    ...(reset === undefined ? [] : [`${t[reset]} ${zone ?? ''}`.trim()]),
    ...(interleave === undefined ? [] : [t.share(interleave.remainder, interleave.of, interleave.block)]),
    ...(maxStep === undefined ? [] : [t.maxStepBadge(format.count(maxStep))]),
    ...(max === undefined ? [] : [t.maxBadge(max)]),
  ];
  return (
    <>
      {texts.map((text) => (
        <span key={text} class="badge badge-plain setting">
          {text}
        </span>
      ))}
    </>
  );
}
