import type { JSX, Ref } from 'preact';
import type { Film } from './film';
import type { RuleName } from './scenes';
import { seconds } from './seconds';
import type { LearnLanguage } from './texts/texts';
import { Timeline } from './timeline';
import type { FilmControl } from './use-film';
import { Verdict } from './verdict';

interface StageProps {
  readonly stageRef: Ref<HTMLElement>;
  readonly texts: LearnLanguage;
  readonly control: FilmControl;
  /** It moves only step by step. */
  readonly isStill: boolean;
  readonly onShow: (rule: RuleName | undefined, without: ReadonlySet<RuleName>) => void;
}

/** The film: its controls, what happens in words, and the timeline. */
export function Stage({ stageRef, texts, control, isStill, onShow }: StageProps): JSX.Element {
  const { t, rules } = texts;
  const { film, rule, without } = control;
  const isWithout = rule !== undefined && without.has(rule);
  const title = rule === undefined ? t.freePlay : t.scene(rule, rules[rule].name, isWithout);
  return (
    <section
      ref={stageRef}
      class="card learn-film"
      tabIndex={-1}
      aria-label={title}
      data-rule={rule}
      data-without={[...without].join(' ')}
      data-ended={film?.ended}
      data-broken={film?.isBroken}
      data-duplicates={film?.world.duplicates.length}
      data-ids={film?.world.ids.length}
    >
      <h2>{title}</h2>
      <p class="learn-caption" aria-live="polite">
        {film === undefined ? t.loading : captionOf(film, texts, isWithout)}
      </p>
      {film !== undefined && (
        <>
          <Controls texts={texts} film={film} control={control} isStill={isStill} onShow={onShow} />
          <Verdict t={t} film={film} />
          <Timeline t={t} world={film.world} endMs={film.endMs} />
        </>
      )}
    </section>
  );
}

function captionOf({ scene, ended, moment }: Film, { t, rules }: LearnLanguage, isWithout: boolean): string {
  if (scene === undefined) return t.freePlayHint;
  const { captions, without, kept } = rules[scene.rule];
  if (ended) return isWithout ? without : kept;
  return captions[moment] ?? '';
}

type ControlsProps = Omit<StageProps, 'stageRef'> & { readonly film: Film };

function Controls({ texts: { t }, film, control, isStill, onShow }: ControlsProps): JSX.Element {
  const { rule, without, playing, setPlaying, run } = control;
  const { ended, scene, world } = film;
  const isWithout = rule !== undefined && without.has(rule);
  return (
    <>
      <div class="learn-controls">
        {!isStill && (
          <button type="button" class="main" disabled={ended} onClick={() => setPlaying(!playing)}>
            {playing ? t.hold : t.play}
          </button>
        )}
        <button
          type="button"
          disabled={ended}
          onClick={() => {
            setPlaying(false);
            run((it) => it.playToNext());
          }}
        >
          {t.step}
        </button>
        {scene !== undefined && (
          <button
            type="button"
            disabled={ended}
            onClick={() => {
              setPlaying(false);
              run((it) => it.playToEnd());
            }}
          >
            {t.toEnd}
          </button>
        )}
        <button type="button" onClick={() => onShow(rule, without)}>
          {t.restart}
        </button>
        {rule !== undefined && (
          <button
            type="button"
            class={ended ? 'main' : ''}
            onClick={() => onShow(rule, isWithout ? new Set() : new Set([rule]))}
          >
            {isWithout ? t.replayWith(rule) : t.replayWithout(rule)}
          </button>
        )}
        <span class="soft learn-time">{seconds(world.time.now)} s</span>
      </div>
      {isStill && <p class="hint">{t.steps}</p>}
    </>
  );
}
