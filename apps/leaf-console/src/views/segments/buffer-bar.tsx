import type { JSX } from 'preact';
import type { TagView } from '../../monitor/views';
import { useConsole } from '../../state/context';

interface BufferBarProps {
  readonly view: TagView;
  readonly prefetchRatio: number;
}

/** The double buffer to scale: the current segment, used from the left, and the next segment beside it. */
export function BufferBar({ view, prefetchRatio }: BufferBarProps): JSX.Element {
  const { t, format } = useConsole();
  const { current, next } = shapeOf(view);
  const failure = next.state === 'failed' ? t.nextFailed(view.lastLoad.error ?? '') : undefined;
  if (current === undefined && next.state === 'empty') return <span class="soft">{t.notLoaded}</span>;
  return (
    <div class="buffer">
      <div class="buffer-bar" aria-hidden="true">
        {current !== undefined && (
          <div class="segment-current" style={{ flexGrow: current.size }}>
            <i class="segment-used" style={{ width: `${current.used * 100}%` }} />
            <i class="segment-mark" style={{ left: `${prefetchRatio * 100}%` }} />
          </div>
        )}
        <div class={`segment-next segment-${next.state}`} style={{ flexGrow: next.size }} />
      </div>
      <div class="buffer-words">
        {current !== undefined && (
          <span class="num" title={t.leftOf(format.count(current.left), format.count(current.size))}>
            {t.left(format.count(current.left))}
          </span>
        )}
        <NextWords next={next} failure={failure} first={current === undefined} />
      </div>
    </div>
  );
}

interface NextWordsProps {
  readonly next: BufferShape['next'];
  readonly failure: string | undefined;
  /** Whether it is the first segment of the tag. */
  readonly first: boolean;
}

function NextWords(props: NextWordsProps): JSX.Element {
  const { t, format } = useConsole();
  const { next, failure, first } = props;
  if (failure !== undefined) {
    return (
      <span class="exact is-down" tabIndex={0} data-exact={failure}>
        {t.failed}
        <span class="unseen">: {failure}</span>
      </span>
    );
  }
  const words = {
    ready: t.nextReady(format.count(next.left)),
    loading: first ? t.loading : t.nextLoading,
    empty: t.nextEmpty,
    failed: t.failed,
  };
  return <span class="soft">{words[next.state]}</span>;
}

type NextState = 'empty' | 'loading' | 'ready' | 'failed';

/** Geometry of the two segments of a tag. Sizes are in IDs; ratios are from 0 to 1. */
interface BufferShape {
  readonly current: { readonly size: number; readonly left: number; readonly used: number } | undefined;
  readonly next: { readonly state: NextState; readonly size: number; readonly left: number };
}

export function shapeOf({ segments: [first, second], loading, lastLoad, step, databaseStep }: TagView): BufferShape {
  // A next segment that is not loaded yet has the size of the latest load.
  const expected = Math.max(1, step, databaseStep);
  const state = second !== null ? 'ready' : loading ? 'loading' : lastLoad.error === null ? 'empty' : 'failed';
  const next = {
    state,
    size: second?.step ?? expected,
    left: second === null ? 0 : leftOf(second),
  } as const;
  if (first === null) return { current: undefined, next };
  const left = leftOf(first);
  const size = Math.max(first.step, left, 1);
  return { current: { size, left, used: (size - left) / size }, next };
}

/** Exact as a number, because a segment has at most a billion IDs. */
function leftOf({ value, max }: { readonly value: string; readonly max: string }): number {
  return Number(BigInt(max) - BigInt(value));
}

/** Severity of a low `lasts` value. */
export function urgencyOf(lastsMs: number | null): 'calm' | 'amber' | 'red' {
  if (lastsMs === null || lastsMs >= 600_000) return 'calm';
  return lastsMs < 60_000 ? 'red' : 'amber';
}
