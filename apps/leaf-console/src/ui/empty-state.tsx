import type { ComponentChildren, JSX } from 'preact';
import { Icon, type IconName } from './icons';

interface EmptyStateProps {
  readonly icon: IconName;
  /** What is missing. */
  readonly title: string;
  /** The next step: a sentence or links. */
  readonly children?: ComponentChildren;
}

/** Stands in for a list or a chart without data. */
export function EmptyState({ icon, title, children }: EmptyStateProps): JSX.Element {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p class="empty-title">{title}</p>
      {children !== undefined && <p class="empty-next">{children}</p>}
    </div>
  );
}
