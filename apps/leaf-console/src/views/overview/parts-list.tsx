import type { JSX } from 'preact';
import type { PartStatus, PartView } from '../../monitor/views';
import { useConsole } from '../../state/context';
import { StatusDot } from '../../ui/status-dot';

/** Components and dependencies of the server, each with its status and reason. */
export function PartsList({ parts }: { readonly parts: readonly PartView[] }): JSX.Element {
  const { t } = useConsole();
  const names: Readonly<Record<PartView['name'], string>> = {
    segment: t.partSegment,
    snowflake: t.partSnowflake,
    database: t.partDatabase,
    registry: t.partRegistry,
    clock: t.partClock,
    drain: t.partDrain,
  };
  const words: Readonly<Record<PartStatus, string>> = { up: t.up, degraded: t.degraded, down: t.down, off: t.off };
  return (
    <ul class="parts">
      {parts.map(({ name, status, description, reason }) => (
        <li key={name} data-part={name} data-status={status}>
          <StatusDot status={shown(name, status)} />
          <strong>{names[name]}</strong>
          <span class={`word word-${shown(name, status)}`}>{words[shown(name, status)]}</span>
          {description !== '' && <span class="part-description">{description}</span>}
          {reason !== null && <span class="part-reason">{reason}</span>}
        </li>
      ))}
    </ul>
  );
}

/** The inactive drain is shown as off, not as up. */
function shown(name: PartView['name'], status: PartStatus): PartStatus {
  return name === 'drain' && status === 'up' ? 'off' : status;
}
