import type { JSX } from 'preact';
import { isPlain, type PlainReset, type Reset, type TagKind, type TagRow } from '../../api/admin-api';
import type { Messages } from '../../i18n/dictionary';
import { useConsole } from '../../state/context';
import { Choice, Field } from '../../ui/field';

/** Form values for the settings of a new tag. */
export interface SettingTexts {
  readonly order: 'relaxed' | 'strict' | 'gapless';
  /** Only for the order gapless. */
  readonly pattern: string;
  readonly reissue: 'no' | 'yes';
  readonly reset: 'never' | PlainReset | 'fiscal';
  /** `MM-DD`. */
  readonly fiscalStart: string;
  readonly zone: string;
  readonly of: string;
  readonly remainder: string;
  readonly block: string;
}

export const NO_SETTINGS: SettingTexts = {
  order: 'relaxed',
  pattern: '',
  reissue: 'no',
  reset: 'never',
  fiscalStart: '',
  zone: '',
  of: '',
  remainder: '',
  block: '',
};

/** Omits empty fields. */
export function kindOf(texts: SettingTexts): TagKind {
  const { order, pattern, reissue, reset, fiscalStart, zone, of, remainder, block } = texts;
  const isGapless = order === 'gapless';
  const isShared = !isGapless && (of !== '' || remainder !== '' || block !== '');
  return {
    ...(order === 'relaxed' ? {} : { order }),
    ...(reset === 'never' ? {} : { reset: reset === 'fiscal' ? (`fiscal:${fiscalStart.trim()}` as const) : reset }),
    ...(zone.trim() === '' ? {} : { zone: zone.trim() }),
    ...(isGapless && pattern.trim() !== '' ? { pattern: pattern.trim() } : {}),
    ...(isGapless && reissue === 'yes' ? { reissue: true } : {}),
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
          ['gapless', t.gaplessOption],
        ]}
        onValue={(order) => set({ order })}
      />
      {value.order === 'gapless' && (
        <>
          <Field label={t.pattern} value={value.pattern} onValue={(pattern) => set({ pattern })} hint={t.patternHint} />
          <Choice
            label={t.voidNumbers}
            value={value.reissue}
            options={[
              ['no', t.stayVoid],
              ['yes', t.reissued],
            ]}
            onValue={(reissue) => set({ reissue })}
          />
        </>
      )}
      <Choice
        label={t.reset}
        value={value.reset}
        options={[
          ['never', t.never],
          ['daily', t.daily],
          ['weekly', t.weekly],
          ['monthly', t.monthly],
          ['quarterly', t.quarterly],
          ['yearly', t.yearly],
          ['fiscal', t.fiscal],
        ]}
        onValue={(reset) => set({ reset })}
      />
      {value.reset === 'fiscal' && (
        <Field
          label={t.fiscalStart}
          value={value.fiscalStart}
          onValue={(fiscalStart) => set({ fiscalStart })}
          hint={t.fiscalStartHint}
        />
      )}
      <Field label={t.zone} value={value.zone} onValue={(zone) => set({ zone })} hint={t.zoneHint} />
      {value.order !== 'gapless' && <ShareFields {...{ value, set }} />}
    </details>
  );
}

interface ShareFieldsProps {
  readonly value: SettingTexts;
  readonly set: (change: Partial<SettingTexts>) => void;
}

function ShareFields({ value, set }: ShareFieldsProps): JSX.Element {
  const { t } = useConsole();
  return (
    <>
      <Field label={t.sharedBy} value={value.of} onValue={(of) => set({ of })} hint={t.sharedByHint} digits />
      <Field
        label={t.remainder}
        value={value.remainder}
        onValue={(remainder) => set({ remainder })}
        hint={t.remainderHint}
        digits
      />
      <Field label={t.block} value={value.block} onValue={(block) => set({ block })} hint={t.blockHint} digits />
    </>
  );
}

function resetText(reset: Reset, t: Messages): string {
  return isPlain(reset) ? t[reset] : `${t.fiscal} ${reset.slice('fiscal:'.length)}`;
}

/** A short label for each setting of a tag. */
export function SettingBadges({ row }: { readonly row: TagRow }): JSX.Element {
  const { t, format } = useConsole();
  const { shard, order, pattern, reissue, reset, zone, interleave, maxStep, max } = row;
  const texts = [
    ...(shard === undefined ? [] : [t.databaseBadge(shard)]),
    ...(order === 'strict' || order === 'gapless' ? [t[order]] : []),
    ...(pattern === undefined ? [] : [pattern]),
    ...(reissue === true ? [t.reissueBadge] : []),
    ...(reset === undefined ? [] : [`${resetText(reset, t)} ${zone ?? ''}`.trim()]),
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
