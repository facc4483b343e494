import type { JSX } from 'preact';
import type { MonitorTag } from '../../monitor/views';
import { useConsole } from '../../state/context';
import { type BufferShape, shapeOf } from './buffer-shape';

interface BufferBarProps {
  readonly view: MonitorTag;
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
