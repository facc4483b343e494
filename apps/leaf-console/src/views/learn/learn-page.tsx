import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useConsole } from '../../state/context';
import { hrefOf } from '../../state/route';
import { EventLog } from './event-log';
import './learn.css';
import { RuleList } from './rule-list';
import { RULE_NAMES, type RuleName } from './scenes';
import { ServerCards } from './server-cards';
import { Stage } from './stage';
import { LEARN_TEXTS } from './texts/texts';
import { useFilm } from './use-film';

/** @param given the rule in the URL: `R3` in `#/learn/R3` */
export function LearnPage({ given }: { readonly given: string }): JSX.Element {
  const { language } = useConsole();
  const { t, rules } = LEARN_TEXTS[language];
  const [isStill] = useState(() => matchMedia('(prefers-reduced-motion: reduce)').matches);
  const stage = useRef<HTMLElement>(null);
  const first = RULE_NAMES.find((name) => name === given) ?? 'R3';
  const control = useFilm(first, isStill, (rule, moment) => rules[rule].captions[moment] ?? '');
  const show = (rule: RuleName | undefined, without: ReadonlySet<RuleName>): void => {
    history.replaceState(null, '', hrefOf('learn', rule ?? ''));
    control.open(rule, without);
    stage.current?.focus({ preventScroll: true });
    stage.current?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <div class="learn">
      <section class="card learn-intro" aria-label={t.title}>
        <h2>{t.title}</h2>
        <p>{t.intro}</p>
        <p class="hint">{t.about}</p>
      </section>
      <RuleList texts={{ t, rules }} control={control} onShow={show} />
      <div class="learn-stage">
        <Stage stageRef={stage} texts={{ t, rules }} control={control} isStill={isStill} onShow={show} />
        {control.film !== undefined && (
          <div class="learn-below">
            <ServerCards t={t} film={control.film} run={control.run} />
            <EventLog t={t} log={control.film.world.log} />
          </div>
        )}
      </div>
    </div>
  );
}
