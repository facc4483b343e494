import type { JSX } from 'preact';
import type { ViewName } from '../state/route';

export type IconName = ViewName | 'sun' | 'moon' | 'system' | 'copy' | 'check';

const PATHS: Readonly<Record<IconName, string>> = {
  overview: 'M3 13h4l2.5-7 4 12 2.5-8 1.5 3H21',
  cluster: 'M4 4h16v6H4zM4 14h16v6H4zM8 7h.01M8 17h.01M12 7h4M12 17h4',
  segments: 'M3 6h11v4H3zM17 6h4v4h-4zM3 14h6v4H3zM12 14h9v4h-9z',
  tags: 'M4 4h8l8 8-8 8-8-8zM8.5 8.5h.01',
  numbers: 'M4.5 9h15M4.5 15h15M10 4 8 20M16 4l-2 16',
  snowflake: 'M12 3v18M4.2 7.5l15.6 9M19.8 7.5l-15.6 9M9.5 4.5 12 7l2.5-2.5M9.5 19.5 12 17l2.5 2.5',
  decoder: 'M4 5v14M9 5v14M13 5v14M20 5v14M16.5 5v14',
  try: 'M7 4.5 19 12 7 19.5z',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22M5 5l1.7 1.7M17.3 17.3 19 19M19 5l-1.7 1.7M6.7 17.3 5 19',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z',
  system: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 4v16M15 5v14M18 7v10',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M4 12.5 9.5 18 20 6.5',
};

/** A decorative icon next to a text label, hidden from screen readers. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
