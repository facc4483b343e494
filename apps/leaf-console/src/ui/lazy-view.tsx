import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useConsole } from '../state/context';

type Loaded<Props> = { readonly View: ComponentType<Props> } | 'failed' | undefined;

interface LazyViewProps<Props> {
  /** Imports the component. The same function at each rendering. */
  readonly load: () => Promise<ComponentType<Props>>;
  readonly props: Props;
}

/** A view whose code is loaded when it is first shown. An upgraded server no longer has the files of this page. */
export function LazyView<Props extends object>({ load, props }: LazyViewProps<Props>): JSX.Element {
  const { t } = useConsole();
  const [loaded, setLoaded] = useState<Loaded<Props>>(undefined);
  useEffect(() => {
    let current = true;
    const show = (result: Loaded<Props>): void => {
      if (current) setLoaded(result);
    };
    load().then(
      (View) => show({ View }),
      () => show('failed'),
    );
    return () => {
      current = false;
    };
  }, [load]);
  if (loaded === undefined) return <p class="waiting">{t.loadingView}</p>;
  if (loaded !== 'failed') return <loaded.View {...props} />;
  return (
    <div role="alert" class="note note-down">
      {t.viewMissing}{' '}
      <button type="button" onClick={() => location.reload()}>
        {t.reloadConsole}
      </button>
    </div>
  );
}
