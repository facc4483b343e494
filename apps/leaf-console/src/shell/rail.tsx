import type { JSX } from 'preact';
import { useConsole } from '../state/context';
import { hrefOf, type ViewName, VIEWS } from '../state/route';
import { Icon } from '../ui/icons';

/** The navigation: on the left, or at the bottom on phones. */
export function Rail({ view }: { readonly view: ViewName }): JSX.Element {
  const { t } = useConsole();
  return (
    <nav aria-label={t.views}>
      {VIEWS.map((name) => (
        <a key={name} href={hrefOf(name)} aria-current={name === view ? 'page' : undefined}>
          <Icon name={name} />
          <span>{name === 'try' ? t.tryIt : t[name]}</span>
        </a>
      ))}
    </nav>
  );
}
