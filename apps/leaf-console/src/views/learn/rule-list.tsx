import type { JSX } from 'preact';
import { type RuleName, SCENES } from './scenes';
import type { LearnLanguage } from './texts/texts';
import type { FilmControl } from './use-film';

interface RuleListProps {
  readonly texts: LearnLanguage;
  readonly control: FilmControl;
  readonly onShow: (rule: RuleName | undefined, without: ReadonlySet<RuleName>) => void;
}

/** The rules of the lease, each with a switch and its scene. */
export function RuleList({ texts: { t, rules }, control, onShow }: RuleListProps): JSX.Element {
  const { rule: shown, without } = control;
  const row = ({ rule }: { readonly rule: RuleName }): JSX.Element => (
    <li key={rule} class={rule === shown ? 'learn-rule chosen' : 'learn-rule'}>
      <button
        type="button"
        class="quiet learn-show"
        aria-label={`${rule} ${rules[rule].name}. ${t.showWithout(rule)}`}
        aria-current={rule === shown ? 'true' : undefined}
        title={t.showWithout(rule)}
        onClick={() => onShow(rule, new Set([rule]))}
      >
        <b>{rule}</b> {rules[rule].name}
      </button>
      <input
        type="checkbox"
        role="switch"
        class="learn-switch"
        aria-label={t.ruleOn(rule)}
        title={t.ruleOn(rule)}
        checked={!without.has(rule)}
        onChange={() => onShow(shown, toggled(without, rule))}
      />
      <p class="hint">{rules[rule].says}</p>
    </li>
  );
  const prevents = SCENES.filter(({ harm }) => harm === undefined);
  return (
    <section class="card learn-rules" aria-label={t.rules}>
      <h2>{t.unique}</h2>
      <ul>{prevents.map(row)}</ul>
      <h2>{t.available}</h2>
      <ul>{SCENES.filter(({ harm }) => harm !== undefined).map(row)}</ul>
      <button type="button" onClick={() => onShow(undefined, without)} aria-pressed={shown === undefined}>
        {t.freePlay}
      </button>
      <p class="hint">{t.freePlayHint}</p>
    </section>
  );
}

function toggled(without: ReadonlySet<RuleName>, rule: RuleName): ReadonlySet<RuleName> {
  const next = new Set(without);
  if (!next.delete(rule)) next.add(rule);
  return next;
}
