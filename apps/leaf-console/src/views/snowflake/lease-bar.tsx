import type { JSX } from 'preact';
import type { WorkerView } from '../../monitor/views';
import { useConsole, useMonitor } from '../../state/context';

/** The reserved time as a bar. It fills as time passes, and empties when the ceiling is raised. */
export function LeaseBar({ worker }: { readonly worker: WorkerView }): JSX.Element {
  const { t, format } = useConsole();
  const store = useMonitor();
  const { floor, ceiling, horizonMs } = worker;
  const now = store.now();
  const left = ceiling - now;
  const used = Math.min(1, Math.max(0, 1 - left / horizonMs));
  const level = left <= 0 ? 'red' : left < horizonMs / 3 ? 'amber' : 'calm';
  return (
    <section class="card" aria-label={t.lease}>
      <h2>{t.lease}</h2>
      <div
        class={`lease lease-${level}`}
        role="meter"
        aria-label={t.reservedAhead}
        aria-valuemin={0}
        aria-valuemax={horizonMs}
        aria-valuenow={Math.round(Math.min(horizonMs, Math.max(0, left)))}
        aria-valuetext={t.leaseBar(format.milliseconds(Math.max(0, left)))}
      >
        <i class="lease-used" style={{ width: `${used * 100}%` }} />
      </div>
      <dl class="lease-ends">
        <div>
          <dt>{t.floor}</dt>
          <dd>{floor === 0 ? t.none : format.local(floor)}</dd>
        </div>
        <div>
          <dt>{t.now}</dt>
          <dd>
            {format.local(now)} · {t.leaseBar(format.milliseconds(Math.max(0, left)))}
          </dd>
        </div>
        <div>
          <dt>{t.ceiling}</dt>
          <dd>{format.local(ceiling)}</dd>
        </div>
      </dl>
      <p class="hint">{t.leaseHint}</p>
    </section>
  );
}
