import type { FunctionComponent, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useConsole } from '../../state/context';

type Page = FunctionComponent<{ readonly given: string }>;

/** Loads the page of the lease when it is opened: nobody else downloads its code. */
export function LazyLearn({ given }: { readonly given: string }): JSX.Element {
  const { t } = useConsole();
  const [page, setPage] = useState<{ readonly Page: Page } | undefined>(undefined);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    import('./learn-page').then(
      (loaded) => setPage({ Page: loaded.default }),
      () => setFailed(true),
    );
  }, []);
  if (failed) return <p class="note note-down">{t.notLoadedReload}</p>;
  return page === undefined ? <p class="waiting">{t.loading}</p> : <page.Page given={given} />;
}
