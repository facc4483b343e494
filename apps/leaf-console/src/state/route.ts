import { useEffect, useState } from 'preact/hooks';

export const VIEWS = ['overview', 'segments', 'tags', 'numbers', 'snowflake', 'cluster', 'decoder', 'try'] as const;
export type ViewName = (typeof VIEWS)[number];

export interface Route {
  readonly view: ViewName;
  /** The part after the view name: `123` in `#/decoder/123`. */
  readonly rest: string;
}

export function hrefOf(view: ViewName, rest = ''): string {
  return rest === '' ? `#/${view}` : `#/${view}/${encodeURIComponent(rest)}`;
}

export function routeOf(hash: string): Route {
  const [, name = '', rest = ''] = /^#\/([a-z]*)(?:\/(.*))?$/.exec(hash) ?? [];
  const view = VIEWS.find((known) => known === name) ?? 'overview';
  try {
    return { view, rest: decodeURIComponent(rest) };
  } catch {
    return { view, rest: '' };
  }
}

/** The route in the URL; renders again when it changes. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return routeOf(hash);
}
