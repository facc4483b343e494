import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Film } from './film';
import { RuleSwitches } from './rule-switches';
import { type RuleName, SCENES } from './scenes';

/** Simulated milliseconds per millisecond. */
const SPEED = 1.6;
/** How long a caption stays before the film goes on: time to read it, in milliseconds per character. */
const READING_MS = 38;
/** A tab in the background gets no frames. */
const LONGEST_FRAME_MS = 100;

export interface FilmControl {
  /** Undefined until the film before it has ended its last task. */
  readonly film: Film | undefined;
  readonly rule: RuleName | undefined;
  /** The rules that are taken out. */
  readonly without: ReadonlySet<RuleName>;
  readonly playing: boolean;
  readonly setPlaying: (playing: boolean) => void;
  /** Starts the scene of `rule`, or free play, without these rules. */
  readonly open: (rule: RuleName | undefined, without: ReadonlySet<RuleName>) => void;
  /** Runs a task of the film, and draws it. */
  readonly run: (task: (film: Film) => Promise<unknown>) => void;
}

/** @param captionOf the text that a moment of a scene shows */
export function useFilm(
  first: RuleName | undefined,
  isStill: boolean,
  captionOf: (rule: RuleName, moment: number) => string,
): FilmControl {
  const switches = useMemo(() => new RuleSwitches(), []);
  const [rule, setRule] = useState(first);
  const [without, setWithout] = useState<ReadonlySet<RuleName>>(new Set(first && [first]));
  const [film, setFilm] = useState<Film | undefined>(undefined);
  const [playing, setPlaying] = useState(false);
  const [, setFrame] = useState(0);
  const newest = useRef(0);
  const caption = useRef(captionOf);
  caption.current = captionOf;

  const draw = (): void => setFrame((frame) => frame + 1);

  const open: FilmControl['open'] = (nextRule, nextWithout) => {
    const request = ++newest.current;
    setRule(nextRule);
    setWithout(nextWithout);
    setPlaying(false);
    setFilm(undefined);
    const start = async (): Promise<void> => {
      await film?.run(() => Promise.resolve());
      if (request !== newest.current) return;
      switches.takeOut(nextWithout);
      const next = new Film(SCENES.find((scene) => scene.rule === nextRule));
      await next.run(() => next.playTo(0));
      setFilm(next);
      setPlaying(!isStill);
    };
    void start();
  };

  useEffect(() => {
    open(rule, without);
    return () => {
      newest.current++;
      switches.takeOut(new Set());
    };
  }, []);

  useEffect(() => {
    if (!playing || film === undefined) return undefined;
    const ended = new AbortController();
    const isOver = (): boolean => ended.signal.aborted;
    let reading = readingMs(film);
    let before = performance.now();
    let handle = requestAnimationFrame(frame);
    function frame(now: number): void {
      const elapsed = Math.min(now - before, LONGEST_FRAME_MS);
      before = now;
      if (reading > 0) {
        reading -= elapsed;
        handle = requestAnimationFrame(frame);
        return;
      }
      void film?.run(async (it) => {
        if (isOver()) return;
        if (await it.playTo(it.world.time.now + elapsed * SPEED)) reading = readingMs(it);
        draw();
        if (isOver()) return;
        if (it.ended) setPlaying(false);
        else handle = requestAnimationFrame(frame);
      });
    }
    return () => {
      ended.abort();
      cancelAnimationFrame(handle);
    };
  }, [playing, film]);

  function readingMs({ scene, moment }: Film): number {
    return scene === undefined || moment < 0 ? 0 : READING_MS * caption.current(scene.rule, moment).length;
  }

  const run: FilmControl['run'] = (task) => void film?.run(task).then(draw);

  return { film, rule, without, playing, setPlaying, open, run };
}
